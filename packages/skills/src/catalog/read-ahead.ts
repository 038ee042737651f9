/**
 * The program of the second thread (`second-thread.ts`): lists folders and reads the skills in them as the search would,
 * from the last to the first, until it meets the other thread. What it does not read, the other one reads.
 */
import { join } from "node:path";
import { workerData } from "node:worker_threads";
import { SKIPPED_FOLDERS } from "../sources/search.ts";
import { candidateForFile, type ListedFolder } from "../sources/skill-files.ts";
import { openEntries } from "./index-file.ts";
import { readSkill } from "./read-root.ts";
import { AHEAD_BATCH, type AheadAnswer, type AheadTask, STATE } from "./second-thread.ts";
import { openSkillIndex } from "./skill-index.ts";

/** Deeper than this nothing is worth reading ahead; the search has limits of its own. */
const MAX_DEPTH = 5;
/** Of one folder at the top and all below it. */
const MAX_ENTRIES = 4000;

const { port, states, root, folders, profile }: AheadTask = workerData;
const { index, created } = openSkillIndex(root, openEntries(""), profile);

for (let batch = states.length - 1; batch >= 0; batch--) {
  if (Atomics.compareExchange(states, batch, STATE.free, STATE.there) !== STATE.free) break;
  let isDone = false;
  try {
    const names = folders.slice(batch * AHEAD_BATCH, (batch + 1) * AHEAD_BATCH);
    for (const name of names) if (!SKIPPED_FOLDERS.has(name)) await readFolder(join(root, name));
    const answer: AheadAnswer = { batch, entries: created.cut() };
    port.postMessage(answer);
    isDone = true;
  } catch {
    created.cut(); // The other thread meets the same fault, and says what it is.
  }
  Atomics.store(states, batch, isDone ? STATE.done : STATE.failed);
  Atomics.notify(states, batch);
}
port.close();

async function readFolder(path: string): Promise<void> {
  const files: string[] = [];
  walk(path, 1, false, { left: MAX_ENTRIES }, files);
  for (const file of files) {
    const { checked, stats } = await readSkill(candidateForFile(file, "directory"), profile);
    if (stats) index.keep(file, stats, checked);
  }
}

/** Folders in the order of the search. A skill below another is rarely asked for, and then read by the other thread. */
function walk(path: string, depth: number, isInside: boolean, room: { left: number }, files: string[]): void {
  const listing: ListedFolder = index.listFolder(path, false);
  room.left -= listing.entries;
  const name = listing.skillFiles.includes("SKILL.md") ? "SKILL.md" : listing.skillFiles[0];
  if (name !== undefined && !isInside) files.push(join(path, name));
  if (depth >= MAX_DEPTH || room.left < 0) return;
  for (const folder of listing.folders) {
    if (!SKIPPED_FOLDERS.has(folder))
      walk(join(path, folder), depth + 1, isInside || name !== undefined, room, files);
  }
}
