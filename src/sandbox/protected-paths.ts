/**
 * What stays read-only in a working directory that a run may write to: files that other programs obey, so that whoever
 * writes them acts outside the sandbox later. Also counts while they do not exist yet.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";

export const PROTECTED_NAMES: readonly string[] = [
  ".metier",
  ".claude",
  ".agents",
  ".mcp.json",
  ".envrc",
  ".vscode",
];

const PROTECTED_IN_GIT = ["hooks", "config"];

/** Below one folder, whether they exist or not. */
export function protectedPathsIn(folder: string): readonly string[] {
  return [...PROTECTED_NAMES.map((name) => join(folder, name)), ...protectedPathsOfGit(join(folder, ".git"))];
}

/** Where `.git` is no folder, it is missing or names another folder: then it must not be made or changed at all. */
export function protectedPathsOfGit(git: string): readonly string[] {
  const isFolder = lstatSync(git, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? PROTECTED_IN_GIT.map((name) => join(git, name)) : [git];
}

/** A link can be swapped for something else, and no mount holds it: the first of these that is one. */
export function findLink(paths: readonly string[]): string | undefined {
  return paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
}
