/**
 * Brings folders to where one rename puts them into the store, atomically on any machine: into the store's own folder, under
 * names that no skill has.
 */
import { chmodSync, cpSync, lstatSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFolder } from "@metier/base/files";
import { randomMark } from "@metier/base/text";

/** The file system's rename, or a copy where it has none from there. */
interface BroughtIn {
  readonly folder: string;
  readonly isRenamed: boolean;
}

/**
 * What is beside a folder that a rename brought in needs only one rename, too, so it stays where it is. Almost always: a
 * mount, for example, may make a difference, so whoever makes that rename must be ready to bring the folder in after all.
 */
export function startBringing(store: string): (folder: string) => string {
  const near = new Set<string>();
  return (folder) => {
    if (near.has(dirname(folder))) return folder;
    const brought = bringIn(store, folder);
    if (brought.isRenamed) near.add(dirname(folder));
    return brought.folder;
  };
}

export function bringIn(store: string, folder: string): BroughtIn {
  const incoming = join(store, `.incoming-${randomMark()}`);
  if (renameOpened(folder, incoming)) return { folder: incoming, isRenamed: true };
  cpSync(folder, incoming, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
  removeFolder(folder);
  return { folder: incoming, isRenamed: false };
}

/** `false`: the other folder is on another file system. A folder closed to its owner cannot move before it is opened. */
export function renameOpened(folder: string, to: string): boolean {
  try {
    renameSync(folder, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EXDEV") return false;
    if (code !== "EACCES" || !openToOwner(folder)) throw error;
    return renameOpened(folder, to);
  }
}

const FOR_OWNER = 0o700;

/** Whether it was closed. */
export function openToOwner(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory() || (stats.mode & FOR_OWNER) === FOR_OWNER) return false;
  chmodSync(folder, FOR_OWNER);
  return true;
}
