/**
 * The second thread's work on a large root (`second-thread.ts`): it lists folders and reads the skill files in them, ahead of
 * the search, and passes on only the heads of usual files. It checks nothing, so it needs little code and is at work soon.
 * The search reads whatever it leaves out.
 */
import { join, sep } from "node:path";
import { decodeBytes, readBoundedBytes } from "@metier/base/files";
import { readHead } from "../parse/skill-head.ts";
import { SKIPPED_FOLDERS } from "../sources/search.ts";
import { readFolderListing } from "../sources/skill-files.ts";
import { stampOf } from "../trust/content-identity.ts";
import { type BatchWriter, createBatchWriter, type FetchedBatch } from "./fetched-batch.ts";
import { packListing } from "./packed-entries.ts";
import { currentStats } from "./stamps.ts";
import {
  type AheadAnswer,
  BETWEEN_FOLDERS,
  batchOf,
  type FetchTask,
  LEAD,
  PATIENCE_MS,
  STATE,
} from "./thread-tasks.ts";

/** The thread does not fetch below this depth. */
const MAX_DEPTH = 5;
/** Of one folder at the top and all below it. */
const MAX_ENTRIES = 4000;
/** The search reads a larger file itself. */
const MAX_FILE_BYTES = 128 * 1024;

/** Fetches batches ahead of the search until it reaches the last one. */
export function fetchBatches(task: FetchTask): void {
  const { port, states } = task;
  const last = states.length - 1;
  const folders = task.folders.split(BETWEEN_FOLDERS);
  const writer = createBatchWriter();
  for (let batch = 0; batch < last; batch++) {
    batch = Math.max(batch, Atomics.load(states, last) + 1);
    if (!isNear(states, batch)) break;
    if (Atomics.compareExchange(states, batch, STATE.free, STATE.there) !== STATE.free) continue;
    const fetched = fetchBatch(task, batchOf(folders, batch), writer);
    const answer: AheadAnswer = { batch, fetched };
    port.postMessage(answer, [fetched.bytes]);
    Atomics.store(states, batch, STATE.done);
    Atomics.notify(states, batch);
  }
  port.close();
}

/** Waits until the search is near enough. */
function isNear(states: Int32Array, batch: number): boolean {
  const place = states.length - 1;
  for (let seen = Atomics.load(states, place); batch > seen + LEAD; seen = Atomics.load(states, place)) {
    if (Atomics.wait(states, place, seen, PATIENCE_MS) === "timed-out") return false;
  }
  return true;
}

/** Fetches in the order of the search. It leaves out what it cannot read: the search says why. */
export function fetchBatch(
  { root, withHeads }: Pick<FetchTask, "root" | "withHeads">,
  names: readonly string[],
  writer: BatchWriter,
): FetchedBatch {
  for (const name of names) {
    if (SKIPPED_FOLDERS.has(name) || name.includes("\n")) continue;
    for (const file of walk(join(root, name), 1, false, { left: MAX_ENTRIES })) {
      const read = readBoundedBytes(file, MAX_FILE_BYTES);
      if (!read.ok) continue;
      const key = file.slice(root.length);
      const stamp = stampOf(read.stats);
      const { text, notUtf8 } = decodeBytes(read.bytes);
      const head = withHeads && !notUtf8 ? readHead(text) : undefined;
      if (head) writer.addHead(key, stamp, head);
      else writer.addFile(key, stamp, read.bytes);
    }
  }
  return writer.take();

  /** The skill files below a folder. A skill inside another is rarely asked for. */
  function walk(path: string, depth: number, isInside: boolean, room: { left: number }): string[] {
    // Stamped before it is listed: a change in between makes the stamp old, never the listing.
    const stats = currentStats(path);
    const listing = stats && listOrUndefined(path);
    if (stats === undefined || listing === undefined) return [];
    const { entries, skillFiles, folders } = listing;
    writer.addFolder(path.slice(root.length) + sep, stampOf(stats), packListing(listing));
    room.left -= entries;
    const name = skillFiles.includes("SKILL.md") ? "SKILL.md" : skillFiles[0];
    const files = name === undefined || isInside ? [] : [path + sep + name];
    if (depth >= MAX_DEPTH || room.left < 0) return files;
    for (const folder of folders) {
      if (!SKIPPED_FOLDERS.has(folder) && !folder.includes("\n"))
        files.push(...walk(path + sep + folder, depth + 1, isInside || name !== undefined, room));
    }
    return files;
  }
}

function listOrUndefined(path: string): ReturnType<typeof readFolderListing> | undefined {
  try {
    return readFolderListing(path, false);
  } catch {
    return undefined;
  }
}
