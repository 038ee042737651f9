/**
 * Tells open pages what other processes do in this home: a run that starts, a log that grows, a journal that is
 * written. It checks sizes and times a few times per second, which works on every file system; it reads no content.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "@metier/base/places";
import { type DurableStatus, ENDED } from "@metier/durable";
import { createRunId, listRunIds, readLogEnds, runFolder } from "@metier/run/events";
import type { RunNotices } from "../runs/run-notices.ts";
import type { DurableReader } from "./merged-journal.ts";

interface WatchParts {
  readonly places: Pick<Places, "runs">;
  /** Where a service keeps its journal. */
  readonly serviceFolder: string;
  readonly durable: DurableReader;
  readonly notices: Pick<RunNotices, "changed" | "tell">;
}

const LOOK_MS = 250;
/** What began earlier and has not ended will not go on. */
const OPEN_MS = 24 * 3_600_000;
const MOST_RUNS = 200;

export function watchElsewhere(parts: WatchParts): { stop(): void } {
  const lookAtLogs = watchLogs(parts);
  const lookAtJournal = watchJournalFile(parts);
  let isBusy = false;
  const timer = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    lookAtLogs();
    lookAtJournal()
      .catch(() => undefined) // It cannot be read now; the next look tries again.
      .finally(() => {
        isBusy = false;
      });
  }, LOOK_MS).unref();
  return { stop: () => clearInterval(timer) };
}

function watchLogs({ places, notices }: WatchParts): () => void {
  /** Those that have not ended, with the size of their logs. */
  const open = new Map<string, number>();
  let folderTime = 0;
  const oldest = createRunId(Date.now() - OPEN_MS);
  const seen = new Set<string>();
  const findNew = (): void => {
    const { mtimeMs = 0 } = statSync(places.runs, { throwIfNoEntry: false }) ?? {};
    if (mtimeMs === folderTime) return;
    folderTime = mtimeMs;
    for (const id of listRunIds(places)) {
      if (id < oldest) return; // All that follow are older.
      if (!seen.has(id)) open.set(id, 0);
      seen.add(id);
    }
  };
  return () => {
    findNew();
    for (const [id, before] of open) {
      const { log } = runFolder(places, id);
      const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
      if (size === before) continue;
      open.set(id, size);
      const isOver = readLogEnds(log)?.last?.type === "run-finished";
      if (isOver) open.delete(id);
      notices.changed(id);
      if (isOver || before === 0) notices.tell({ kind: "run", id, runId: id });
    }
  };
}

function watchJournalFile({ serviceFolder, durable, notices }: WatchParts): () => Promise<void> {
  let before = "";
  let known: ReadonlyMap<string, DurableStatus> = new Map();
  return async () => {
    const files = ["journal.db", "journal.db-wal"].map((name) => join(serviceFolder, name));
    const stamp = files
      .map((file) => statSync(file, { throwIfNoEntry: false }))
      .map((stats) => `${stats?.size} ${stats?.mtimeMs}`)
      .join(" ");
    if (stamp === before) return;
    before = stamp;
    const journal = await durable.open();
    if (journal === undefined) return;
    const newest = await journal.list({ limit: MOST_RUNS });
    for (const { id, status } of newest) {
      const last = known.get(id);
      if (!ENDED.has(status) || last !== status) notices.changed(id);
      if (last === status) continue;
      notices.tell({ kind: "run", id, runId: id });
      if (status === "waiting" || last === "waiting") notices.tell({ kind: "approval", id, runId: id });
    }
    known = new Map(newest.map(({ id, status }) => [id, status]));
  };
}
