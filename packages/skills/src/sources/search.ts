/**
 * The state of one search: what was found, what is left of the limits, and all messages about paths it does not use, in
 * one file for consistency.
 */

import { basename, dirname, join } from "node:path";
import type { Diagnostic, DiagnosticCode, Severity } from "@metier/base/diagnostic";
import { isInside, type RealPathOf, realPathOr } from "@metier/base/places";
import { forReader } from "@metier/base/text";
import type { SkillCandidate } from "../skill/skill.ts";
import { isSkillFileName, type ListFolder, readFolderListing } from "./skill-files.ts";
import type { SkillRoot } from "./skill-roots.ts";

export interface FoundCandidate {
  readonly candidate: SkillCandidate;
  /** The skill file's real path, with all links resolved: trust and duplicates are decided on it. */
  readonly realFile: string;
}

export type RootOutcome = "searched" | "missing" | "not-a-directory" | "unreadable" | "link-escapes";

export interface SearchOptions {
  /** Real paths of the roots in use: a link may lead only into one of them. */
  readonly knownRoots: ReadonlySet<string>;
  /** Default: asks the disk each time. */
  readonly realPathOf?: RealPathOf | undefined;
  /** Whether a skill inside another is a separate skill. */
  readonly nested: boolean;
  readonly limits?: SearchLimits;
  readonly listFolder?: ListFolder | undefined;
  /** The skill files, all in folders inside the root, if the result of a search is already known. */
  readonly refind?: (() => readonly string[] | undefined) | undefined;
}

export interface Search {
  readonly realRoot: string;
  readonly nested: boolean;
  readonly limits: SearchLimits;
  readonly listFolder: ListFolder;
  readonly realPathOf: RealPathOf;
  readonly refind: () => readonly string[] | undefined;
  readonly found: FoundCandidate[];
  readonly diagnostics: Diagnostic[];
  /** Real paths of folders entered through a link: each is entered once, so that links cannot multiply. */
  readonly linked: Set<string>;
  readonly used: { places: number; all: number };
  /** Whether a link may lead to `path`: only into a known root. */
  isKnown(path: string): boolean;
  /** With `once`, one message for all similar findings: only the first is reported. */
  report(path: string, finding: Finding, once?: string): void;
}

export function newSearch({ path, locked }: SkillRoot, options: SearchOptions): Search {
  const { nested, limits = SEARCH_LIMITS, listFolder = readFolderListing } = options;
  const { refind = () => undefined, realPathOf = realPathOr, knownRoots } = options;
  // Whoever may write to a project may make a link of its folder at any time.
  const realRoot = locked ? realPathOf(path) : realPathOr(path);
  const diagnostics: Diagnostic[] = [];
  const said = new Set<string>();
  return {
    realRoot,
    nested,
    limits,
    listFolder,
    realPathOf,
    refind,
    found: [],
    diagnostics,
    linked: new Set(),
    used: { places: 0, all: 0 },
    isKnown: (path) => isInside(path, realRoot) || isBelowOne(path, knownRoots),
    report(path, [code, severity, message, hint], once) {
      if (once !== undefined && said.has(once)) return;
      if (once !== undefined) said.add(once);
      // A skill file has lines; if it is not read, its first one stands for it.
      const line = isSkillFileName(basename(path)) ? { line: 1 } : {};
      diagnostics.push({ code, severity, path, ...line, message, hint });
    },
  };
}

/** Asks for each folder above the path instead of comparing it with each root: installed skills are roots, too. */
function isBelowOne(path: string, roots: ReadonlySet<string>): boolean {
  const above = dirname(path);
  return roots.has(path) || (above !== path && isBelowOne(above, roots));
}

/** The limits of a search for skills. Reaching one is a diagnostic. */
export interface SearchLimits {
  /** Deeper folders below a root are not searched. */
  readonly depth: number;
  /** Paths checked per root: folders, links and flat skill files outside skill folders. */
  readonly entries: number;
  /** Entries checked inside one skill folder, to find nested skill files. */
  readonly entriesPerSkill: number;
  /** Entries checked per root in total: what a hostile tree can cost. */
  readonly entriesInAll: number;
}

const SEARCH_LIMITS: SearchLimits = {
  depth: 5,
  entries: 20_000,
  entriesPerSkill: 2_000,
  entriesInAll: 400_000,
};

/** Never entered: large, and never contains a skill. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([".git", "node_modules"]);

type Finding = readonly [code: DiagnosticCode, severity: Severity, message: string, hint: string];

/** The message about a path that the search does not use. */
export const FINDINGS = {
  missing: (path: string): Finding => [
    "source.missing",
    "error",
    `The skills path \`${path}\` does not exist.`,
    forReader({
      command: "Fix the path, or remove it from `--path` or `skills.paths`.",
      program: "Fix the path, or remove it from `paths` or `skills.paths`.",
    }),
  ],
  unreadable: (path: string): Finding => [
    "source.unreadable",
    "error",
    `The skills path \`${path}\` cannot be read: permission denied.`,
    "Check its permissions and those of its parent folders.",
  ],
  leavesProject: (path: string, target: string): Finding => [
    "link.escapes",
    "error",
    `The skills folder \`${path}\` is a link to \`${target}\`, outside the project; it is not searched.`,
    "If you want its skills, add the target to `skills.paths` in your own config.",
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
    `\`${file}\` is inside the skill \`${parentSkill}\` and belongs to it.`,
    "Set `skills.nested = true` to make it a separate skill, or move it out.",
  ],
  ignored: (file: string): Finding => [
    "scan.ignored",
    "info",
    `A \`.gitignore\` hides \`${file}\`; it is not used.`,
    forReader({
      command: "To use it anyway, name its folder with `--path`.",
      program: "To use it anyway, name its folder in `paths`.",
    }),
  ],
  dangling: (link: string): Finding => [
    "link.dangling",
    "warning",
    `The link \`${link}\` is broken.`,
    "Remove the link, or restore its target.",
  ],
  escape: (link: string, target: string): Finding => [
    "link.escapes",
    "error",
    `The link \`${link}\` points to \`${target}\`, outside every skills folder; it is not followed.`,
    "Copy the skill here, or add its folder to `skills.paths`.",
  ],
  skillFileInRoot: (file: string, root: string): Finding => [
    "scan.skill-file-in-root",
    "warning",
    `\`${file}\` is directly in a skills folder, without its own folder; it is not used.`,
    `Move it to \`${join(root, "<name>", "SKILL.md")}\`.`,
  ],
  secondFile: (file: string, used: string): Finding => [
    "scan.second-skill-file",
    "warning",
    `\`${file}\` is next to \`${used}\`, which is used instead.`,
    "Keep one skill file per folder.",
  ],
  specialFile: (file: string): Finding => [
    "scan.special-file",
    "warning",
    `\`${file}\` is not a regular file, so it is not read.`,
    "Replace it with a regular file.",
  ],
  unlistable: (folder: string, isTop: boolean, error: unknown): Finding => [
    "source.unreadable",
    isTop ? "error" : "warning",
    `\`${folder}\` cannot be listed: ${error instanceof Error ? error.message : String(error)}`,
    "Check its permissions; its contents were not searched.",
  ],
  depth: (folder: string, { limits, realRoot }: Search): Finding => [
    "scan.depth-limit",
    "info",
    `\`${folder}\` is more than ${limits.depth} folders below \`${realRoot}\`; folders that deep were not searched.`,
    forReader({
      command: "If it contains skills, point `--path` at a deeper folder.",
      program: "If it contains skills, point `paths` at a deeper folder.",
    }),
  ],
  entryLimit: (path: string, limit: number): Finding => [
    "scan.entry-limit",
    "warning",
    `\`${path}\` contains more than ${limit} files and folders; the rest was not searched.`,
    forReader({
      command: "Point `skills.paths` or `--path` at smaller folders.",
      program: "Point `skills.paths` or `paths` at smaller folders.",
    }),
  ],
};
