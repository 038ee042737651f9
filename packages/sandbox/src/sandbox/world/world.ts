/**
 * What one run sees of the machine, and what it may do with a path: the one answer that the path gate of the file tools
 * and the mounts of a sandbox are both made from.
 */
import { basename, dirname } from "node:path";

/**
 * The same for the commands of a run (bubblewrap makes it so) and for its file tools (the path gate holds them to it). All
 * paths are absolute and real. Where entries lie in each other, the innermost decides: a work folder inside Metier's
 * hidden folder is writable, a skill inside a writable project is not.
 */
export interface World {
  /** Where tools start: the working directory of a trusted run, the work folder of an untrusted one. */
  readonly cwd: string;
  /** `$METIER_WORK_DIR`: fresh for the run, writable, kept after it. */
  readonly workDir: string;
  /** The folder of the skill, always read-only; absent for a skill given as an object. */
  readonly skillDir?: string | undefined;
  /** `$METIER_DATA_DIR`: the skill's own folder for this user, writable, kept over runs and updates of the skill. */
  readonly dataDir?: string | undefined;
  /** Folders that commands see, read-only, at another path than their own: the packages of a skill in its folder. */
  readonly placed?: readonly PlacedFolder[] | undefined;
  /** Folders and files that can be read, each with everything below it. Includes what is writable. */
  readonly readable: readonly string[];
  /** Folders and files that can be changed, each with everything below it. */
  readonly writable: readonly string[];
  /** Seen as empty: secrets, Metier's own folders, loaded config files, `.env*`. Beats the lists above for one path. */
  readonly masked: readonly string[];
  /** Inside a writable folder, but read-only: `.git/hooks`, `.metier`, … */
  readonly protectedPaths: readonly string[];
}

/** A folder that commands see at another path than its own. */
export interface PlacedFolder {
  /** Where the folder is on the machine. */
  readonly from: string;
  /** Directly in a read-only folder of the world; what is there is covered. */
  readonly at: string;
  /** The environment variable by which programs find it, such as `PYTHONPATH`. */
  readonly variable?: string;
}

export type Access = "none" | "read" | "write";

/** One entry per path, outer folders before what lies in them. */
export type WorldRules = ReadonlyMap<string, Access>;

const known = new WeakMap<World, WorldRules>();

export function worldRules(world: World): WorldRules {
  const cached = known.get(world);
  if (cached) return cached;
  const rules = new Map<string, Access>();
  // A later line beats an earlier one for the same path.
  for (const path of world.readable) rules.set(path, "read");
  for (const path of world.writable) rules.set(path, "write");
  for (const path of world.protectedPaths) rules.set(path, "read");
  for (const path of world.masked) rules.set(path, "none");
  const sorted = outerFirst(rules);
  known.set(world, sorted);
  return sorted;
}

export function outerFirst(rules: WorldRules): WorldRules {
  return new Map([...rules].sort(([a], [b]) => countSegments(a) - countSegments(b)));
}

/** For a real path, of something that is there or is to be made. */
export function accessTo(world: World, realPath: string): Access {
  const rules = worldRules(world);
  let hasSecretName = false;
  for (let path = realPath; ; path = dirname(path)) {
    const access = rules.get(path);
    if (access !== undefined) return hasSecretName && path !== world.workDir ? "none" : access;
    if (path === dirname(path)) return "none";
    hasSecretName ||= isSecretName(basename(path));
  }
}

/** Whether a run sees what lies at this real path. */
export function isInWorld(world: World, realPath: string): boolean {
  return accessTo(world, realPath) !== "none";
}

function countSegments(path: string): number {
  return path.split("/").filter(Boolean).length;
}

/**
 * Names that hide a file wherever it lies in a world, except in the work folder, which the run fills itself: `.env`,
 * `.env.local`, `.envrc` …, whatever begins so, in any letter case.
 */
export function isSecretName(name: string): boolean {
  return name.slice(0, 4).toLowerCase() === ".env";
}
