/** How far a search for skills goes. A limit that bites is a diagnostic. */
export interface ScanLimits {
  /** Folders deeper than this below a root are not searched. */
  readonly depth: number;
  /** Places looked at per root: folders, links and flat skill files outside of skill folders. */
  readonly entries: number;
  /** Entries looked at inside one skill folder, in search of nested skill files. */
  readonly entriesPerSkill: number;
  /** Entries looked at per root in all: what a hostile tree can cost. */
  readonly entriesInAll: number;
}

export const SCAN_LIMITS: ScanLimits = {
  depth: 5,
  entries: 20_000,
  entriesPerSkill: 2_000,
  entriesInAll: 400_000,
};

/** Never entered: large, and never the home of a skill. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);
