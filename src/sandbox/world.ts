/**
 * What one run sees of the machine: the same for its commands (bubblewrap makes it so) and for the file tools (the path
 * gate holds them to it). All paths are absolute and real. Where entries lie in each other, the innermost decides
 * (`world-access.ts`).
 */
export interface World {
  /** Where tools start: the working directory of a trusted run, the work folder of an untrusted one. */
  readonly cwd: string;
  /** `$METIER_WORK_DIR`: fresh for the run, writable, kept after it. */
  readonly workDir: string;
  /** The folder of the skill, always read-only; absent for a skill given as an object. */
  readonly skillDir?: string;
  /** `$METIER_DATA_DIR`: the skill's own folder for this user, writable, kept over runs and updates of the skill. */
  readonly dataDir?: string;
  /** Folders that commands see, read-only, at another path than their own: the packages of a skill in its folder. */
  readonly placed?: readonly PlacedFolder[];
  /** Folders and files that can be read, each with everything below it. Includes what is writable. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** Seen as empty: secrets, Metier's own folders, loaded config files, `.env*`. Beats the lists above for one path. */
  readonly masked: readonly string[];
  /** Inside a writable folder, but read-only: `.git/hooks`, `.metier`, … */
  readonly protectedPaths: readonly string[];
}

export interface PlacedFolder {
  readonly from: string;
  /** Directly in a read-only folder of the world; what is there is covered. */
  readonly at: string;
  /** The environment variable by which programs find it, such as `PYTHONPATH`. */
  readonly variable?: string;
}
