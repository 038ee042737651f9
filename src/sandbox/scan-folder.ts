/**
 * One bounded look through a folder that a run will see: secrets by their names, sockets (through which a program can
 * reach others even without a network), and files that stay read-only. Nearest folders first; follows no link.
 */
import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { PROTECTED_NAMES, protectedPathsOfGit } from "./protected-paths.ts";
import { isSecretName } from "./secret-names.ts";

export interface FolderScan {
  /** To be hidden. Of a link, what it leads to. */
  readonly hidden: readonly string[];
  /** To stay read-only where the folder is writable. */
  readonly guarded: readonly string[];
  /** `false`: a limit was reached, and the rest was not looked at. */
  readonly complete: boolean;
}

export const MAX_SCANNED = 20_000;
/** Each becomes a mount. */
export const MAX_FOUND = 1_000;
/** Too large, and not written by the folder's owner. */
const SKIPPED = new Set([".git", "node_modules"]);

/** `isDone` names folders that need no look, because they are hidden anyway or the run's own. */
export function scanFolder(root: string, isDone: (folder: string) => boolean): FolderScan {
  const hidden: string[] = [];
  const guarded: string[] = [];
  const pending = [root];
  let entries = 0;
  for (const folder of pending) {
    for (const entry of listEntries(folder)) {
      if (isHidden(entry)) hidden.push(...followLink(join(folder, entry.name), entry));
      else {
        guarded.push(...guardedIn(folder, entry.name));
        if (entry.isDirectory() && !SKIPPED.has(entry.name)) {
          const path = join(folder, entry.name);
          if (!isDone(path)) pending.push(path);
        }
      }
      entries += 1;
      if (entries >= MAX_SCANNED || hidden.length + guarded.length >= MAX_FOUND) {
        return { hidden, guarded, complete: false };
      }
    }
  }
  return { hidden, guarded, complete: true };
}

function isHidden(entry: Dirent): boolean {
  return isSecretName(entry.name) || entry.isSocket();
}

function guardedIn(folder: string, name: string): readonly string[] {
  if (name === ".git") return protectedPathsOfGit(join(folder, name));
  return PROTECTED_NAMES.includes(name) ? [join(folder, name)] : [];
}

function listEntries(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // What this user cannot list, the run, which has no more rights, cannot list either.
  }
}

function followLink(path: string, entry: Dirent): readonly string[] {
  if (!entry.isSymbolicLink()) return [path];
  try {
    return [realpathSync.native(path)];
  } catch {
    return []; // It leads nowhere.
  }
}
