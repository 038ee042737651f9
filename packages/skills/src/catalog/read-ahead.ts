/**
 * What the second thread does (`second-thread.ts`): lists folders and reads the skills in them as the search would, into
 * entries of an index. What it does not read, whoever searches reads.
 */
import { join } from "node:path";
import { SKIPPED_FOLDERS } from "../sources/search.ts";
import { candidateForFile } from "../sources/skill-files.ts";
import type { Profile } from "../validate/profiles.ts";
import { openEntries } from "./index-file.ts";
import { readSkill } from "./read-root.ts";
import { AHEAD_BATCH, type AheadAnswer, type AheadTask, STATE } from "./second-thread.ts";
import { openSkillIndex } from "./skill-index.ts";

/** Deeper than this nothing is read ahead; the search has limits of its own. */
const MAX_DEPTH = 5;
/** Of one folder at the top and all below it. */
const MAX_ENTRIES = 4000;

/** Takes batches from the last to the first, until it meets the other thread. */
export async function readBatches({ port, states, root, folders, profile }: AheadTask): Promise<void> {
  for (let batch = states.length - 1; batch >= 0; batch--) {
    if (Atomics.compareExchange(states, batch, STATE.free, STATE.there) !== STATE.free) break;
    const names = folders.slice(batch * AHEAD_BATCH, (batch + 1) * AHEAD_BATCH);
    let isDone = false;
    try {
      const answer: AheadAnswer = { batch, entries: await readFolders(root, names, profile) };
      port.postMessage(answer);
      isDone = true;
    } catch {
      // The other thread meets the same fault when it reads them itself, and says what it is.
    }
    Atomics.store(states, batch, isDone ? STATE.done : STATE.failed);
    Atomics.notify(states, batch);
  }
  port.close();
}

/** Of folders at the top of a root, in their order. Throws where one cannot be listed: the search says so. */
export async function readFolders(root: string, names: readonly string[], profile: Profile): Promise<string> {
  const pieces: string[] = [];
  const write = (text: string): unknown => pieces.push(text);
  const { index, created } = openSkillIndex(root, { old: openEntries(""), write, profile });
  /** Folders in the order of the search. A skill below another is rarely asked for, and then read by who asks. */
  const walk = (path: string, depth: number, isInside: boolean, room: { left: number }): string[] => {
    const { entries, skillFiles, folders } = index.listFolder(path, false);
    room.left -= entries;
    const name = skillFiles.includes("SKILL.md") ? "SKILL.md" : skillFiles[0];
    const files = name === undefined || isInside ? [] : [join(path, name)];
    if (depth >= MAX_DEPTH || room.left < 0) return files;
    for (const folder of folders) {
      if (!SKIPPED_FOLDERS.has(folder))
        files.push(...walk(join(path, folder), depth + 1, isInside || name !== undefined, room));
    }
    return files;
  };
  for (const name of names) {
    if (SKIPPED_FOLDERS.has(name)) continue;
    for (const file of walk(join(root, name), 1, false, { left: MAX_ENTRIES })) {
      const { checked, stats } = await readSkill(candidateForFile(file, "directory"), profile);
      if (stats) index.keep(file, stats, checked);
    }
  }
  created.end();
  return pieces.join("");
}
