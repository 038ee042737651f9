/**
 * What stays read-only in a working directory that a run may write to: files that other programs obey, so that whoever
 * writes them acts outside the sandbox later. Also counts while they do not exist yet.
 */
import { existsSync, lstatSync } from "node:fs";
import { join } from "node:path";

export const PROTECTED_NAMES: readonly string[] = [
  ".metier",
  ".claude",
  ".agents",
  ".mcp.json",
  ".envrc",
  ".vscode",
];

/** `commondir` can name another folder for hooks and config. */
const PROTECTED_IN_GIT = ["hooks", "config", "commondir"];
/** These count only where they exist: further configs, and the repositories of submodules. */
const PROTECTED_IN_GIT_IF_THERE = ["config.worktree", "modules"];

/** What holds a place that must be a file: git fails on a folder there, and this means the repository itself. */
export const HARMLESS_FILES: Readonly<Record<string, string>> = { commondir: "././.\n" };

/** Below one folder, whether they exist or not. */
export function protectedPathsIn(folder: string): readonly string[] {
  return [...PROTECTED_NAMES.map((name) => join(folder, name)), ...protectedPathsOfGit(join(folder, ".git"))];
}

/** Where `.git` is no folder, it is missing or names another folder: then it must not be made or changed at all. */
export function protectedPathsOfGit(git: string): readonly string[] {
  if (!lstatSync(git, { throwIfNoEntry: false })?.isDirectory()) return [git];
  const present = PROTECTED_IN_GIT_IF_THERE.filter((name) => existsSync(join(git, name)));
  return [...PROTECTED_IN_GIT, ...present].map((name) => join(git, name));
}

/** A link can be swapped for something else, and no mount holds it: the first of these that is one. */
export function findLink(paths: readonly string[]): string | undefined {
  return paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
}
