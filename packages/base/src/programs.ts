/**
 * Finds programs and processes without starting any: commands on PATH (relative and empty entries are skipped, so that
 * a project can't add one), modules of a skill, and whether a process is still the same one.
 */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { openContained, withContained } from "./files/open-contained.ts";
import { isInside, realPathOr } from "./places.ts";

/** The absolute path of a command, or `undefined` if there is none. Each name is looked up once. */
export type CommandFinder = (name: string) => string | undefined;

export type Environment = Readonly<Record<string, string | undefined>>;

const MAX_NAME_LENGTH = 255;
/** No separator, drive, white space or control character, and nothing that looks like an option. */
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

/**
 * The same without programs that a project could provide: no PATH folder inside `project`, and no link into it. If the
 * home folder itself is the project, the user's own programs are still found.
 */
export function createOutsideFinder(
  environment: Environment,
  { project, home }: { readonly project: string; readonly home: string },
): CommandFinder {
  const root = realPathOr(project);
  const find = createCommandFinder(outsideEnvironment(environment, { project, home }));
  if (isInside(realPathOr(home), root)) return find;
  return (name) => {
    const found = find(name);
    return found !== undefined && !isInside(realPathOr(found), root) ? found : undefined;
  };
}

/**
 * The environment with a PATH that leads to no folder of the project, not even by a relative entry: for finding
 * programs, and for started programs that look for others.
 */
export function outsideEnvironment(
  environment: Environment,
  { project, home }: { readonly project: string; readonly home: string },
): Environment {
  const root = realPathOr(project);
  const isOwn = isInside(realPathOr(home), root);
  const folders = pathFolders(environment, process.platform).filter(
    (folder) => isOwn || !isInside(realPathOr(folder), root),
  );
  const isPath = (name: string): boolean =>
    name === "PATH" || (process.platform === "win32" && name.toUpperCase() === "PATH");
  const PATH = folders.join(delimiter);
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, isPath(name) ? PATH : value]),
  );
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
    if (endings[0] !== "") return true; // Windows has no executable bit; the extension decides.
    if ((found.mode & 0o111) === 0) return false; // For root, some systems grant X_OK on any file.
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // A file that can't be inspected or executed is not a command for this user.
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

/** In the order they are tried if the extension is left out. */
export const MODULE_ENDINGS: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

type ModuleFinding =
  | { readonly ok: true /** Absolute, links resolved. */; readonly file: string }
  | { readonly ok: false /** Starts in lower case. */; readonly message: string };

/** `realFolder` must be a real path, as for `openContained`. */
export function findModule(realFolder: string, path: string): ModuleFinding {
  const isWhole = MODULE_ENDINGS.some((ending) => path.endsWith(ending));
  const bases = path.endsWith("/") ? [`${path}index`] : [path, `${path}/index`];
  const candidates = isWhole
    ? [path]
    : bases.flatMap((base) => MODULE_ENDINGS.map((ending) => base + ending));
  for (const candidate of candidates) {
    const opened = withContained(openContained(realFolder, candidate), ({ realPath }) => realPath);
    if (typeof opened === "string") return { ok: true, file: opened };
    if (isWhole || opened.reason !== "missing") return { ok: false, message: opened.message };
  }
  const tried = MODULE_ENDINGS.map((ending) => `\`${ending}\``).join(", ");
  const message = `\`${path}\` is not a module of the skill: no such file with the extension ${tried}, and no \`index\` in a folder of that name.`;
  return { ok: false, message };
}

/** Whether a process with this number runs on this machine. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"; // It is alive and belongs to someone else.
  }
}

export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  /** Its start time, in ticks since boot; absent if the system doesn't say. */
  readonly born?: string;
}

export function identifyProcess(pid: number = process.pid): ProcessIdentity {
  const born = readBirth(pid);
  return { host: hostname(), pid, ...(born !== undefined && { born }) };
}

/** `undefined` if it belongs to another machine, which can't be asked. */
export function isStillAlive({ host, pid, born }: ProcessIdentity): boolean | undefined {
  if (host !== hostname()) return undefined;
  return isAlive(pid) && (born === undefined || readBirth(pid) === born);
}

/** The 22nd field; the second one, the name in parentheses, may contain anything. */
function readBirth(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined; // Not Linux, or the process is gone.
  }
}
