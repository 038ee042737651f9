/**
 * The folders that count as "the project" for a working directory: from there to the repository root, nearest
 * first. Only inside a repository, never at or above home, and never a folder that belongs to another user.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "./places.ts";

export interface ProjectFolders {
  /** Nearest first; `[cwd]` outside a repository; empty when the working directory is home itself. */
  readonly folders: readonly string[];
  /** The repository root, or the working directory outside of one: what a folder grant binds to. */
  readonly root: string;
  /** Folders left out because another user owns them. */
  readonly foreign: readonly string[];
}

export function projectFolders(cwd: string, home: string): ProjectFolders {
  const start = realPathOr(cwd);
  const realHome = realPathOr(home);
  if (start === realHome) return { folders: [], root: start, foreign: [] };
  const chain = ancestors(start).filter((folder) => folder === start || !isInside(realHome, folder));
  const repository = chain.findIndex((folder) => existsSync(join(folder, ".git")));
  const searched = repository === -1 ? chain.slice(0, 1) : chain.slice(0, repository + 1);
  return {
    folders: searched.filter((folder) => isOwnFolder(folder)),
    root: searched.at(-1) ?? start,
    foreign: searched.filter((folder) => !isOwnFolder(folder)),
  };
}

/** A folder someone else owns (a shared `/tmp`, another user's home) must not bring its own skills or config. */
export function isOwnFolder(folder: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  try {
    return lstatSync(folder).uid === uid;
  } catch {
    return true; // A missing folder has no owner; whoever reads it reports that it is missing.
  }
}

function ancestors(start: string): readonly string[] {
  const chain = [start];
  for (let parent = dirname(start); parent !== chain.at(-1); parent = dirname(parent)) chain.push(parent);
  return chain;
}

/** The real path, or the path itself where it does not exist. */
export function realPathOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
