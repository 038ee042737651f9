/**
 * The entries of the skills a caller may use. An entry is valid while the catalog and the stamps of the skill's folder
 * are unchanged: reading, hashing and scanning would give the same result. A list whose folders are watched is valid
 * for a second without checking each skill.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { refused } from "@metier/base/result";
import { dropOldest } from "@metier/base/turns";
import type { SkillLibrary } from "@metier/run";
import { type Catalog, hasFolder, type Skill } from "@metier/skills";
import { type ContentStamps, stampContent } from "@metier/skills/trust";
import type { Metier } from "../runtime/create-metier.ts";
import { type EntryResult, readEntry, type SkillEntry, skillNameIn } from "./skill-entry.ts";

export interface Entries {
  /** The entries of those skills that have one, in the same order. */
  of(skills: readonly Skill[]): Promise<readonly SkillEntry[]>;
  /** As the skill is now; the others may come from a kept list. */
  ofNow(skill: Skill): Promise<SkillEntry | undefined>;
  /** The entry that contains a URI, whatever it names there. As the skill is now. */
  at(uri: string): Promise<SkillEntry | undefined>;
  /** Identifies the skill's current state while the catalog is the same; `undefined` if stamps can't tell. */
  stamp(skill: Skill): ContentStamps | undefined;
  /** By `performance.now()`: how long a list returned now is valid without checking its skills. */
  listsStandUntil(): number;
}

/** `isWatched`: whether a change to a skill is noticed and makes a new catalog. */
export function createEntries(
  metier: Metier,
  library: SkillLibrary,
  report: (diagnostic: Diagnostic) => void,
  isWatched: () => boolean,
): Entries {
  const listed = rememberLists(metier, isWatched);
  let known = new Map<string, KnownEntry>();
  let catalog: Catalog | undefined;
  /** Of the current catalog. */
  const current = (): Map<string, KnownEntry> => {
    if (catalog !== metier.catalog) known = new Map();
    catalog = metier.catalog;
    return known;
  };
  const recall = ({ name }: Skill): KnownEntry | undefined => {
    const found = current().get(name);
    return found?.stamps.hold() ? found : undefined;
  };
  const look = async (skill: Skill): Promise<EntryResult> => {
    if (skill.remote) return refused("it comes from another MCP server and is not passed on");
    const before = recall(skill);
    if (before) return before.entry;
    const entries = current();
    const stamps = stampSkill(metier, skill);
    const held = await library.whyHeld?.(skill);
    const entry = held === undefined ? await readEntry(metier, skill) : refused(held);
    if (stamps) entries.set(skill.name, { stamps, entry });
    return entry;
  };
  const entryOf = async (skill: Skill): Promise<SkillEntry | undefined> => {
    const entry = await look(skill);
    if (entry.ok) return entry.value;
    report(notServed(skill, entry.refusal));
    return undefined;
  };
  return {
    async of(skills) {
      const before = listed.recall(skills);
      if (before) return before;
      const keep = listed.begin(skills);
      const entries: SkillEntry[] = [];
      for (const skill of skills) {
        const entry = await entryOf(skill);
        if (entry) entries.push(entry);
      }
      keep(entries);
      return entries;
    },
    ofNow: entryOf,
    async at(uri) {
      const name = skillNameIn(uri);
      const skill = library.skills().find((candidate) => candidate.name === name);
      return skill && entryOf(skill);
    },
    stamp: (skill) => recall(skill)?.stamps ?? stampSkill(metier, skill),
    listsStandUntil: listed.standUntil,
  };
}

interface KnownEntry {
  readonly stamps: ContentStamps;
  readonly entry: EntryResult;
}

/**
 * The catalog covers config, grants and locks. Whatever else counts has no stamp: baselines are read again on each use.
 */
function stampSkill({ config: { config } }: Metier, skill: Skill): ContentStamps | undefined {
  if (skill.remote || !hasFolder(skill) || config.scan.baseline.length > 0) return undefined;
  return stampContent(skill);
}

interface KeptList {
  readonly catalog: Catalog;
  readonly until: number;
  readonly entries: readonly SkillEntry[];
}

/** Clients are told to keep a list ten times as long, and use and reading always check again. */
const LISTED_MS = 1000;
const MOST_LISTS = 20;

/** Pages of lists, by the names in them. */
function rememberLists(metier: Metier, isWatched: () => boolean) {
  const kept = new Map<string, KeptList>();
  const keyOf = (skills: readonly Skill[]): string => skills.map(({ name }) => name).join("\0");
  const stands = ({ catalog, until }: KeptList): boolean =>
    isWatched() && catalog === metier.catalog && performance.now() < until;
  return {
    recall(skills: readonly Skill[]): readonly SkillEntry[] | undefined {
      const found = kept.get(keyOf(skills));
      return found && stands(found) ? found.entries : undefined;
    },
    /** Counted from before anything is checked. */
    begin(skills: readonly Skill[]): (entries: readonly SkillEntry[]) => void {
      const { catalog } = metier;
      const until = performance.now() + LISTED_MS;
      return (entries) => {
        kept.set(keyOf(skills), { catalog, until, entries });
        dropOldest(kept, MOST_LISTS);
      };
    },
    /** Until the oldest of the valid ones expires: it may be the one returned. */
    standUntil(): number {
      if (!isWatched()) return 0;
      const ends = [...kept.values()].filter(stands).map(({ until }) => until);
      return Math.min(performance.now() + LISTED_MS, ...ends);
    },
  };
}

function notServed({ name, location }: Skill, reason: string): Diagnostic {
  return {
    code: "mcp.not-served",
    severity: "warning",
    path: location || name,
    message: `Skill \`${name}\` is not in \`skills/list\`: ${reason.replace(/\.$/, "")}.`,
    hint: "`metier validate --strict` shows what other clients expect of a skill. Tools still serve it if it is usable.",
  };
}
