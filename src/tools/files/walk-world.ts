/**
 * What lies below a folder as the run sees it: breadth first, links not followed, within bounds, and with what was
 * left out.
 */
import { compareText } from "../../foundation/diagnostic.ts";
import type { ContainedFault } from "../../host/open-contained.ts";
import type { World } from "../../sandbox/world.ts";
import { type FolderEntry, listFolder } from "../../sandbox/world-path.ts";

export interface WalkedEntry {
  /** Below the folder, with `/` between names. */
  readonly path: string;
  readonly kind: FolderEntry["kind"];
}

export interface Walk {
  readonly ok: true;
  /** Sorted by path. */
  readonly entries: readonly WalkedEntry[];
  /** Sentences about what is not in `entries`. */
  readonly left: readonly string[];
}

export const MAX_DEPTH = 20;
const MAX_ENTRIES = 20_000;
/** Large and rarely meant: entered only when they are asked for by name. */
const NOT_ENTERED = new Set([".git", "node_modules"]);

export function walkWorld(world: World, folder: string, maxDepth: number): Walk | ContainedFault {
  const top = listFolder(world, folder);
  if (!top.ok) return top;
  const entries: WalkedEntry[] = [];
  const left = new Set<string>();
  for (const entry of entriesBelow(world, folder, maxDepth, left)) {
    if (entries.length === MAX_ENTRIES) {
      left.add(`more than ${MAX_ENTRIES} entries: the rest was not looked at`);
      break;
    }
    entries.push(entry);
  }
  return { ok: true, entries: entries.sort((a, b) => compareText(a.path, b.path)), left: [...left].sort() };
}

function* entriesBelow(
  world: World,
  folder: string,
  maxDepth: number,
  left: Set<string>,
): Iterable<WalkedEntry> {
  const pending = [{ path: "", depth: 1 }];
  for (const { path, depth } of pending) {
    const listed = listFolder(world, path === "" ? folder : `${folder}/${path}`);
    if (!listed.ok) {
      left.add("some folders cannot be read");
      continue;
    }
    for (const { name, kind } of listed.entries) {
      const below = path === "" ? name : `${path}/${name}`;
      yield { path: below, kind };
      const isEntered = kind === "folder" && depth < maxDepth;
      if (isEntered && NOT_ENTERED.has(name)) left.add(`\`${name}\` was not entered`);
      else if (isEntered) pending.push({ path: below, depth: depth + 1 });
    }
  }
}
