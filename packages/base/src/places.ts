/**
 * The folders Metier uses, and those of a project. `--home DIR` or `METIER_HOME` replaces the OS home everywhere, so
 * every path below a home is made here and nowhere else.
 */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";

export interface Places {
  /** The user's home, or its replacement. */
  readonly home: string;
  /** `<home>/.metier` */
  readonly base: string;
  /** The user's config file. */
  readonly configFile: string;
  /** The user's own skills. */
  readonly skills: string;
  /** A folder for each installed skill, by name and content. */
  readonly store: string;
  /** Skills installed for the user, in every project. */
  readonly lockFile: string;
  /** The user's trust decisions. */
  readonly grantsFile: string;
  /** Everything here can be made again. */
  readonly cache: string;
  /** Where fetched sources wait for review. Never searched for skills. */
  readonly quarantine: string;
  /** State besides skills and runs: linked accounts, sign-ins, the audit log. */
  readonly state: string;
  /** A folder for each run: its log and its work folder. */
  readonly runs: string;
  /** A folder for each skill: its data, kept across runs and updates. */
  readonly data: string;
}

export function metierPlaces(
  home?: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Places {
  const absolute = resolve(home ?? (environment.METIER_HOME || homedir()));
  const base = join(absolute, ".metier");
  return {
    home: absolute,
    base,
    configFile: join(base, "config.toml"),
    skills: join(base, "skills"),
    store: join(base, "store"),
    lockFile: join(base, "metier.lock"),
    grantsFile: join(base, "grants.json"),
    cache: join(base, "cache"),
    quarantine: join(base, "cache", "quarantine"),
    state: join(base, "state"),
    runs: join(base, "state", "runs"),
    data: join(base, "data"),
  };
}

/** Turns `~` and `~/x` into paths below `home`; resolves anything else against `base`. */
export function expandPath(path: string, home: string, base: string): string {
  if (path === "~") return home;
  if (path.startsWith("~/") || path.startsWith(`~${sep}`)) return join(home, path.slice(2));
  return resolve(base, path);
}

/** Whether `path` is `directory` or is inside it, segment by segment; both absolute and normalized. */
export function isInside(path: string, directory: string): boolean {
  if (!path.startsWith(directory)) return false;
  return (
    path.length === directory.length || directory.endsWith(sep) || path.startsWith(sep, directory.length)
  );
}

export interface ProjectFolders {
  /** Nearest first; `[cwd]` outside a repository; empty if the working directory is home itself. */
  readonly folders: readonly string[];
  /** The repository root, or the working directory outside one: a folder grant binds to this. */
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

/** A folder that someone else owns (a shared `/tmp`, another user's home) must not provide skills or config. */
export function isOwnFolder(folder: string): boolean {
  const uid = process.getuid?.();
  if (uid === undefined) return true;
  try {
    return lstatSync(folder).uid === uid;
  } catch {
    return true; // A missing folder has no owner; the code that reads it reports that it is missing.
  }
}

function ancestors(start: string): readonly string[] {
  const chain = [start];
  for (let parent = dirname(start); parent !== chain.at(-1); parent = dirname(parent)) chain.push(parent);
  return chain;
}

/** The real path, or the path itself if it doesn't exist. */
export type RealPathOf = (path: string) => string;

/** Asks the disk each time. */
export function realPathOr(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Resolves each path once, except those that are known: for one pass over many paths, after which they may have changed. */
export function rememberRealPaths(given: Iterable<readonly [path: string, real: string]> = []): RealPathOf {
  const known = new Map(given);
  return (path) => {
    const real = known.get(path) ?? realPathOr(path);
    known.set(path, real);
    return real;
  };
}

/** The version of this package; a test keeps it equal to package.json. */
export const VERSION = "0.1.0";
