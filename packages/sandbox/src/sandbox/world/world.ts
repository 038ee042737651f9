/**
 * What one run sees of the machine, and what it may do with a path: the basis of both the file tools' path gate and a
 * sandbox's mounts.
 */
import { basename, dirname } from "node:path";

/**
 * The same for a run's commands (through bubblewrap) and its file tools (through the path gate). All paths are absolute
 * and real. For nested entries, the innermost decides: a work folder inside Metier's hidden folder is writable, a skill
 * inside a writable project is not.
 */
export interface World {
  /** Where tools start: the working directory of a trusted run, the work folder of an untrusted one. */
  readonly cwd: string;
  /** `$METIER_WORK_DIR`: new for the run, writable, kept after it. */
  readonly workDir: string;
  /** The skill's folder, always read-only; absent for a skill defined in code. */
  readonly skillDir?: string | undefined;
  /** `$METIER_DATA_DIR`: the skill's own folder for this user, writable, kept across runs and updates of the skill. */
  readonly dataDir?: string | undefined;
  /** Read-only folders that commands see at another path: a skill's packages in its folder. */
  readonly placed?: readonly PlacedFolder[] | undefined;
  /** Readable folders and files, each with everything in it. Includes the writable ones. */
  readonly readable: readonly string[];
  /** Writable folders and files, each with everything in it. */
  readonly writable: readonly string[];
  /**
   * Shown as empty: secrets, Metier's own folders, loaded config files, `.env*`. Overrides the lists above for the same
   * path.
   */
  readonly masked: readonly string[];
  /** Read-only paths inside a writable folder: `.git/hooks`, `.metier`, … */
  readonly protectedPaths: readonly string[];
}

/** A folder that commands see at another path. */
export interface PlacedFolder {
  /** Where the folder is on the machine. */
  readonly from: string;
  /** Directly in a read-only folder of the world; hides what is there. */
  readonly at: string;
  /** The environment variable by which programs find it, such as `PYTHONPATH`. */
  readonly variable?: string;
}

export type Access = "none" | "read" | "write";

/** One entry per path, outer folders before inner ones. */
export type WorldRules = ReadonlyMap<string, Access>;

const known = new WeakMap<World, WorldRules>();

export function worldRules(world: World): WorldRules {
  const cached = known.get(world);
  if (cached) return cached;
  const rules = new Map<string, Access>();
  // A later line overrides an earlier one for the same path.
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

/** For a real path that exists or is to be created. */
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

/** Whether a run sees this real path. */
export function isInWorld(world: World, realPath: string): boolean {
  return accessTo(world, realPath) !== "none";
}

function countSegments(path: string): number {
  return path.split("/").filter(Boolean).length;
}

/**
 * Names that hide a file anywhere in a world, except in the work folder, which the run fills itself: `.env`,
 * `.env.local`, `.envrc` …, anything with that prefix, in any letter case.
 */
export function isSecretName(name: string): boolean {
  return name.slice(0, 4).toLowerCase() === ".env";
}
