/**
 * Which files can be skills: by name in a folder's listing, and by the `.gitignore` files in a skills root. Also a
 * file's default skill name. Reads folders, never a skill file.
 */
import { type Dirent, readdirSync } from "node:fs";
import { basename, dirname, extname, join, relative, sep } from "node:path";
import { readBounded } from "@metier/base/files";
import { compareText, compileGlob } from "@metier/base/text";
import { nameInStore } from "../lock/lock.ts";
import type { SkillCandidate, SkillForm } from "../skill/skill.ts";

/** What a folder contains, as far as the search cares. Small enough for the index. */
export interface ListedFolder {
  readonly folders: readonly string[];
  /** `SKILL.md` in any case. */
  readonly skillFiles: readonly string[];
  /** `.md`, `.yaml` and `.yml` files that are not skill files; kept only for the top of a root. */
  readonly flatFiles: readonly string[];
  /** Symbolic links, whatever their targets. */
  readonly links: readonly string[];
  /** Entries with a skill file's name that are not a file, folder or link. */
  readonly specialFiles: readonly string[];
  readonly hasGitignore: boolean;
  /** The folder's total number of entries. */
  readonly entries: number;
}

/** Lists a folder, which is really at `real`; throws what `readdir` throws. The index replaces it if nothing changed. */
export type ListFolder = (path: string, top: boolean, real: string) => ListedFolder;

const FLAT_FILE = /\.(?:md|ya?ml)$/i;

/** What it is called; other cases are found as well. */
export const SKILL_FILE = "SKILL.md";

export function isSkillFileName(name: string): boolean {
  return name.length === 8 && (name === SKILL_FILE || name.toLowerCase() === "skill.md");
}

const NONE: readonly string[] = Object.freeze([]);

/** A folder without anything relevant to a search. */
export const EMPTY_LISTING: Omit<ListedFolder, "entries"> = Object.freeze({
  folders: NONE,
  skillFiles: NONE,
  flatFiles: NONE,
  links: NONE,
  specialFiles: NONE,
  hasGitignore: false,
});

/** What most skill folders are: `SKILL.md` and nothing else relevant. */
export const PLAIN_LISTING: Omit<ListedFolder, "entries"> = Object.freeze({
  ...EMPTY_LISTING,
  skillFiles: Object.freeze([SKILL_FILE]),
});

/** One object for most of thousands of folders. */
export const LONE_SKILL_FILE: ListedFolder = Object.freeze({ ...PLAIN_LISTING, entries: 1 });

export function readFolderListing(path: string, top: boolean): ListedFolder {
  const entries = readdirSync(path, { withFileTypes: true });
  const [first] = entries;
  if (entries.length === 1 && first?.name === SKILL_FILE && first.isFile()) return LONE_SKILL_FILE;
  return toListing(entries, top);
}

/** What is asked of an entry. */
export type KnownEntry = Pick<Dirent, "name" | "isFile" | "isDirectory" | "isSymbolicLink">;

/** Of a folder whose entries are known. */
export function toListing(entries: readonly KnownEntry[], top: boolean): ListedFolder {
  const folders: string[] = [];
  const skillFiles: string[] = [];
  const flatFiles: string[] = [];
  const links: string[] = [];
  const specialFiles: string[] = [];
  let hasGitignore = false;
  for (const entry of entries) {
    const { name } = entry;
    if (entry.isDirectory()) folders.push(name);
    else if (entry.isSymbolicLink()) links.push(name);
    else if (isSkillFileName(name)) (entry.isFile() ? skillFiles : specialFiles).push(name);
    else if (name === ".gitignore") hasGitignore = entry.isFile();
    else if (top && entry.isFile() && FLAT_FILE.test(name)) flatFiles.push(name);
  }
  for (const names of [folders, skillFiles, flatFiles, links]) if (names.length > 1) names.sort(compareText);
  return { folders, skillFiles, flatFiles, links, specialFiles, hasGitignore, entries: entries.length };
}

/** `undefined` if a file of that name cannot be a skill. */
export function formOfFile(file: string): SkillForm | undefined {
  const name = file.slice(file.lastIndexOf(sep) + 1);
  if (isSkillFileName(name)) return "directory";
  const ending = extname(file).toLowerCase();
  if (ending === ".md") return "markdown";
  return ending === ".yaml" || ending === ".yml" ? "yaml" : undefined;
}

/** `directory` is the file's folder, for callers that know it. */
export function candidateForFile(
  file: string,
  form: SkillForm,
  directory: string = dirname(file),
): SkillCandidate {
  // Paths are normalized here; slicing them is faster than parsing, and there are thousands.
  const folder = directory.slice(directory.lastIndexOf(sep) + 1);
  // In the store, a folder's name is the skill's name with part of its digest.
  const defaultName = form === "directory" ? (nameInStore(folder) ?? folder) : basename(file, extname(file));
  return { form, file, directory, defaultName };
}

// `.gitignore` files never apply to the root itself, and rules from above it do not count: a project that ignores its
// `.claude` folder still has the skills in it. Both the rules and the names may be hostile, so they are matched step by
// step, never as a regular expression.

const MAX_GITIGNORE_BYTES = 64 * 1024;
const MAX_RULES = 1000;

export interface IgnoreRules {
  /** Whether the rules of this folder and its parents, up to the root, hide `path`. */
  hides(path: string, isFolder: boolean): boolean;
}

/** The rules of `folder` in addition to those that already apply. An unreadable file adds none. */
export function addGitignore(folder: string, outer: IgnoreRules | undefined): IgnoreRules | undefined {
  const file = readBounded(join(folder, ".gitignore"), MAX_GITIGNORE_BYTES);
  if (!file.ok) return outer;
  const decide = compileGitignore(file.text);
  return {
    hides(path, isFolder) {
      return decide(relative(folder, path).split(sep), isFolder) ?? outer?.hides(path, isFolder) ?? false;
    },
  };
}

interface Rule {
  readonly hides: boolean;
  readonly foldersOnly: boolean;
  /** Each matches one path segment; `undefined` is `**`, any number of them. */
  readonly segments: readonly (((segment: string) => boolean) | undefined)[];
}

/** The last matching rule's decision on a path in the file's folder; `undefined` if no rule matches. */
export function compileGitignore(
  text: string,
): (path: readonly string[], isFolder: boolean) => boolean | undefined {
  const rules = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .flatMap((line) => parseRule(line) ?? [])
    .reverse();
  return (path, isFolder) =>
    rules.find((rule) => (isFolder || !rule.foldersOnly) && matches(rule.segments, path))?.hides;
}

function parseRule(line: string): Rule | undefined {
  let pattern = line.replace(/(?<!\\) +$/, "");
  if (pattern === "" || pattern.startsWith("#")) return undefined;
  const isNegated = pattern.startsWith("!");
  if (isNegated) pattern = pattern.slice(1);
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.slice(0, -1);
  const isAnchored = pattern.includes("/");
  const parts = (pattern.startsWith("/") ? pattern.slice(1) : pattern).split("/");
  if (parts.some((part) => part === "")) return undefined;
  const segments = parts.map((part) => (part === "**" ? undefined : compileGlob(part)));
  return { hides: !isNegated, foldersOnly, segments: isAnchored ? segments : [undefined, ...segments] };
}

/** Row by row: which path prefixes the rule's first segments match. At most rule times path steps. */
function matches(rule: Rule["segments"], path: readonly string[]): boolean {
  let reached: readonly boolean[] = [true, ...path.map(() => false)];
  for (const [index, test] of rule.entries()) {
    // `a/**` is everything inside `a`, not `a` itself.
    const isLast = index > 0 && index === rule.length - 1;
    if (test === undefined && isLast) return reached.slice(0, -1).includes(true);
    reached = test === undefined ? reachAll(reached) : reachOne(reached, path, test);
  }
  return reached[path.length] ?? false;
}

/** `**`: all extensions of every prefix that was reached. */
function reachAll(reached: readonly boolean[]): readonly boolean[] {
  const first = reached.indexOf(true);
  return reached.map((_, length) => first !== -1 && length >= first);
}

function reachOne(
  reached: readonly boolean[],
  path: readonly string[],
  test: (segment: string) => boolean,
): readonly boolean[] {
  return reached.map(
    (_, length) => length > 0 && reached[length - 1] === true && test(path[length - 1] ?? ""),
  );
}
