/**
 * The state of one search: what was found, what is left of the limits, and what is said about the places it does not use,
 * in one file so that it says everything alike.
 */

import { basename, join } from "node:path";
import type { Diagnostic, DiagnosticCode, Severity } from "@metier/base/diagnostic";
import { isInside } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import type { SkillCandidate } from "../skill/skill.ts";
import { isSkillFileName, type ListFolder, readFolderListing } from "./skill-files.ts";

export interface FoundCandidate {
  readonly candidate: SkillCandidate;
  /** Where the skill file really is, all links resolved: what trust and duplicates are decided on. */
  readonly realFile: string;
}

export type RootOutcome = "searched" | "missing" | "not-a-directory" | "unreadable" | "link-escapes";

export interface SearchOptions {
  /** Real paths of the roots in use: a link may lead into any of them, and nowhere else. */
  readonly knownRoots: readonly string[];
  /** Whether a skill below another is a skill of its own. */
  readonly nested: boolean;
  readonly limits?: SearchLimits;
  readonly listFolder?: ListFolder | undefined;
  /** The skill files, all of them in folders below the root, if it is known what a search would find. */
  readonly refind?: (() => readonly string[] | undefined) | undefined;
}

export interface Search {
  readonly realRoot: string;
  readonly nested: boolean;
  readonly limits: SearchLimits;
  readonly listFolder: ListFolder;
  readonly refind: () => readonly string[] | undefined;
  readonly found: FoundCandidate[];
  readonly diagnostics: Diagnostic[];
  /** Real paths of folders entered through a link: each is entered once, so that links cannot multiply. */
  readonly linked: Set<string>;
  readonly used: { places: number; all: number };
  /** Whether a link may lead to `path`: into a known root and nowhere else. */
  isKnown(path: string): boolean;
  /** With `once`, what stands for all findings alike: only the first of them is said. */
  report(path: string, finding: Finding, once?: string): void;
}

export function newSearch(realRoot: string, options: SearchOptions): Search {
  const { nested, limits = SEARCH_LIMITS, listFolder = readFolderListing } = options;
  const { refind = () => undefined } = options;
  const knownRoots = [...options.knownRoots, realRoot];
  const diagnostics: Diagnostic[] = [];
  const said = new Set<string>();
  return {
    realRoot,
    nested,
    limits,
    listFolder,
    refind,
    found: [],
    diagnostics,
    linked: new Set(),
    used: { places: 0, all: 0 },
    isKnown: (path) => knownRoots.some((root) => isInside(path, root)),
    report(path, [code, severity, message, hint], once) {
      if (once !== undefined && said.has(once)) return;
      if (once !== undefined) said.add(once);
      // A skill file has lines; where it is not read, its first one stands for it.
      const line = isSkillFileName(basename(path)) ? { line: 1 } : {};
      diagnostics.push({ code, severity, path, ...line, message, hint });
    },
  };
}

/** How far a search for skills goes. A limit that bites is a diagnostic. */
export interface SearchLimits {
  /** Folders deeper than this below a root are not searched. */
  readonly depth: number;
  /** Places looked at per root: folders, links and flat skill files outside of skill folders. */
  readonly entries: number;
  /** Entries looked at inside one skill folder, in search of nested skill files. */
  readonly entriesPerSkill: number;
  /** Entries looked at per root in all: what a hostile tree can cost. */
  readonly entriesInAll: number;
}

const SEARCH_LIMITS: SearchLimits = {
  depth: 5,
  entries: 20_000,
  entriesPerSkill: 2_000,
  entriesInAll: 400_000,
};

/** Never entered: large, and never the home of a skill. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

type Finding = readonly [code: DiagnosticCode, severity: Severity, message: string, hint: string];

/** What is said of a place that the search does not use. */
export const FINDINGS = {
  missing: (path: string): Finding => [
    "source.missing",
    "error",
    `The skills path \`${path}\` does not exist.`,
    forReader({
      command: "Correct the path, or remove it from `--path` or `skills.paths`.",
      program: "Correct the path, or remove it from `paths` or `skills.paths`.",
    }),
  ],
  unreadable: (path: string): Finding => [
    "source.unreadable",
    "error",
    `The skills path \`${path}\` may not be read.`,
    "Check its permissions and those of the folders above it.",
  ],
  leavesProject: (path: string, target: string): Finding => [
    "link.escapes",
    "error",
    `The skills folder \`${path}\` is a link out of the project, to \`${target}\`; it is not searched.`,
    "Name the target in `skills.paths` of your own config if you want its skills.",
  ],
  notADirectory: (path: string, explicit: boolean): Finding => [
    "source.not-a-directory",
    explicit ? "error" : "warning",
    `The skills path \`${path}\` is not a folder${explicit ? ", nor a `.md`, `.yaml` or `.yml` file" : ""}.`,
    "A skills path is a folder of skill folders; move the file, or name a folder.",
  ],
  nested: (file: string, parentSkill: string): Finding => [
    "scan.nested-skill",
    "info",
    `\`${file}\` lies below the skill \`${parentSkill}\` and is part of its content.`,
    "Set `skills.nested = true` to treat it as a skill of its own, or move it out.",
  ],
  ignored: (file: string): Finding => [
    "scan.ignored",
    "info",
    `A \`.gitignore\` hides \`${file}\`; it is not used.`,
    forReader({
      command: "Name its folder with `--path` to use it all the same.",
      program: "Name its folder in `paths` to use it all the same.",
    }),
  ],
  dangling: (link: string): Finding => [
    "link.dangling",
    "warning",
    `The link \`${link}\` leads nowhere.`,
    "Remove the link, or restore what it pointed to.",
  ],
  escape: (link: string, target: string): Finding => [
    "link.escapes",
    "error",
    `The link \`${link}\` leads out of every skills folder, to \`${target}\`; it is not followed.`,
    "Copy the skill here, or name the folder it is in under `skills.paths`.",
  ],
  skillFileInRoot: (file: string, root: string): Finding => [
    "scan.skill-file-in-root",
    "warning",
    `\`${file}\` stands in a skills folder, not in a folder of its own; it is not used.`,
    `Move it to \`${join(root, "<name>", "SKILL.md")}\`.`,
  ],
  secondFile: (file: string, used: string): Finding => [
    "scan.second-skill-file",
    "warning",
    `\`${file}\` stands beside \`${used}\`, which is the one that is read.`,
    "Keep one skill file per folder.",
  ],
  specialFile: (file: string): Finding => [
    "scan.special-file",
    "warning",
    `\`${file}\` is not a regular file and is not read.`,
    "Replace it by a regular file.",
  ],
  unlistable: (folder: string, isTop: boolean, error: unknown): Finding => [
    "source.unreadable",
    isTop ? "error" : "warning",
    `\`${folder}\` cannot be listed: ${error instanceof Error ? error.message : String(error)}`,
    "Check its permissions; what lies below it was not searched.",
  ],
  depth: (folder: string, { limits, realRoot }: Search): Finding => [
    "scan.depth-limit",
    "info",
    `\`${folder}\` lies more than ${limits.depth} folders below \`${realRoot}\`; folders that deep were not searched.`,
    forReader({
      command: "Point `--path` at a folder further down if skills are there.",
      program: "Point `paths` at a folder further down if skills are there.",
    }),
  ],
  entryLimit: (path: string, limit: number): Finding => [
    "scan.entry-limit",
    "warning",
    `More than ${limit} files and folders lie below \`${path}\`; the rest was not searched.`,
    forReader({
      command: "Point `skills.paths` or `--path` at smaller folders.",
      program: "Point `skills.paths` or `paths` at smaller folders.",
    }),
  ],
};
