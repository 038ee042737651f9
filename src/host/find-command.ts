/**
 * Is `gh` on PATH? Looked up in the folders of PATH alone: no shell, no subprocess, nothing is run.
 * Relative and empty PATH entries are skipped, so that a project cannot bring a command along.
 */
import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** The absolute path of a command, or `undefined` when there is none. Each name is looked up once. */
export type CommandFinder = (name: string) => string | undefined;

export type Environment = Readonly<Record<string, string | undefined>>;

const MAX_NAME_LENGTH = 255;
/** No separator, drive, white space or control character, and nothing that reads as an option. */
const COMMAND_NAME = /^(?!-)[^/\\:\s\x00-\x1f\x7f]+$/;

export function createCommandFinder(
  environment: Environment,
  platform: NodeJS.Platform = process.platform,
): CommandFinder {
  const folders = pathFolders(environment, platform);
  const endings = platform === "win32" ? windowsEndings(environment) : [""];
  const known = new Map<string, string | undefined>();
  return (name) => {
    if (known.has(name)) return known.get(name);
    const found = isCommandName(name) ? lookUp(name, folders, endings) : undefined;
    known.set(name, found);
    return found;
  };
}

function isCommandName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && name !== "." && name !== ".." && COMMAND_NAME.test(name);
}

function lookUp(name: string, folders: readonly string[], endings: readonly string[]): string | undefined {
  const hasEnding = endings.some((ending) => ending !== "" && name.toLowerCase().endsWith(ending));
  const tried = hasEnding ? ["", ...endings] : endings;
  for (const folder of folders) {
    for (const ending of tried) {
      const path = join(folder, name + ending);
      if (isExecutableFile(path, endings)) return path;
    }
  }
  return undefined;
}

function isExecutableFile(path: string, endings: readonly string[]): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return false;
    if (endings[0] !== "") return true; // Windows has no executable bit: the ending says it.
    if ((found.mode & 0o111) === 0) return false; // For root, some systems grant X_OK to any file.
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // What may not be looked at or executed is not a command this user has.
  }
}

function pathFolders(environment: Environment, platform: NodeJS.Platform): readonly string[] {
  const windows = platform === "win32";
  const value = windows ? readIgnoringCase(environment, "PATH") : environment.PATH;
  const entries = (value ?? "").split(windows ? ";" : ":");
  const plain = windows ? entries.map((entry) => entry.replace(/^"(.*)"$/, "$1")) : entries;
  return [...new Set(plain.filter((entry) => isAbsolute(entry)))];
}

function windowsEndings(environment: Environment): readonly string[] {
  const value = readIgnoringCase(environment, "PATHEXT") || ".com;.exe;.bat;.cmd";
  return value
    .toLowerCase()
    .split(";")
    .filter((ending) => ending.startsWith(".") && ending.length > 1);
}

/** A copy of `process.env` no longer ignores case as Windows does (`Path`). */
function readIgnoringCase(environment: Environment, name: string): string | undefined {
  const key = Object.keys(environment).find((candidate) => candidate.toUpperCase() === name);
  return key === undefined ? undefined : environment[key];
}
