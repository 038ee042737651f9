/** Keeps the journal bounded. Only results go: an intent without one is what tells that nobody knows. */
import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { readRecord } from "./journal-record.ts";

const KEPT_FOR_MS = 30 * 24 * 60 * 60_000;
/** Of one user; beyond that the oldest go, whatever their age. */
const MOST_RECORDS = 10_000;
const PRUNE_EVERY_MS = 60 * 60_000;

/** By folder: when it was last done. */
const lastPruned = new Map<string, number>();

/** At most once an hour; other calls do not wait for it. */
export async function pruneJournal(folder: string, now: number): Promise<void> {
  if (now - (lastPruned.get(folder) ?? Number.NEGATIVE_INFINITY) < PRUNE_EVERY_MS) return;
  lastPruned.set(folder, now);
  for (const user of await namesIn(folder)) await pruneUser(join(folder, user), now);
}

async function pruneUser(folder: string, now: number): Promise<void> {
  const files = (await namesIn(folder)).filter((name) => name.endsWith(".json"));
  const stamped = await Promise.all(
    files.map(async (name) => ({ file: join(folder, name), writtenAt: await writtenAt(join(folder, name)) })),
  );
  const newestFirst = stamped.toSorted((a, b) => b.writtenAt - a.writtenAt);
  for (const [index, { file, writtenAt: time }] of newestFirst.entries()) {
    if (index < MOST_RECORDS && now - time < KEPT_FOR_MS) continue;
    const record = readRecord(file);
    if (record === "damaged" || record?.state !== "done") continue;
    await rm(file, { force: true }).catch(() => undefined); // What the system does not let go is left to a later attempt.
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((): readonly string[] => []); // Not there yet, or not a folder: nothing to prune.
}

async function writtenAt(file: string): Promise<number> {
  return lstat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => Number.POSITIVE_INFINITY, // Gone meanwhile.
  );
}
