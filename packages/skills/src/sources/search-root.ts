/**
 * Searches one root for skills: bounded, deterministic, and reports everything it leaves out. Finds paths; reads no
 * skill file. A folder with a skill file is a skill; skill files inside it belong to its content and are reported,
 * unless nested skills are enabled.
 */
import { type Stats, statSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside, realPathOr } from "@metier/base/places";
import {
  FINDINGS,
  type FoundCandidate,
  newSearch,
  type RootOutcome,
  type Search,
  type SearchOptions,
  SKIPPED_FOLDERS,
} from "./search.ts";
import {
  addGitignore,
  candidateForFile,
  formOfFile,
  type IgnoreRules,
  isSkillFileName,
  type ListedFolder,
} from "./skill-files.ts";
import type { SkillRoot } from "./skill-roots.ts";

interface SearchedRoot {
  readonly outcome: RootOutcome;
  readonly found: readonly FoundCandidate[];
  readonly diagnostics: readonly Diagnostic[];
}

export function searchRoot(root: SkillRoot, options: SearchOptions): SearchedRoot {
  const steps = searchSteps(root, options);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/**
 * The same in steps, one per top folder: a caller that reads the skills found so far before the next step reads them
 * while their folder is cached. Intermediate results only grow; the return value is final.
 */
export function* searchSteps(
  root: SkillRoot,
  options: SearchOptions,
): Generator<readonly FoundCandidate[], SearchedRoot, undefined> {
  const search = newSearch(root, options);
  const { found, diagnostics } = search;
  // For an installed skill only the result counts: other content of its folder is left out.
  const isOwn = root.locked !== undefined || root.source !== undefined;
  const opened = openRoot(search, root);
  const outcome = typeof opened === "string" ? opened : "searched";
  if (typeof opened !== "string") {
    for (const name of opened.listing.folders) {
      enterFolder(search, opened.here, name, opened.inside);
      if (!isOwn) yield found;
    }
    followLinks(search, opened);
  }
  return { outcome, found: isOwn ? ownSkill(found, root) : found, diagnostics };
}

/** Other content of an installed skill's folder belongs to it; without a skill file it is not a skill. */
function ownSkill(found: readonly FoundCandidate[], { path }: SkillRoot): readonly FoundCandidate[] {
  return found.filter(({ candidate }) => candidate.directory === path).slice(0, 1);
}

/** Whether a project's skills folder is a link that leads out of the project. */
export function leavesProject(root: SkillRoot, realRoot: string): boolean {
  return root.scope === "project" && !isInside(realRoot, realPathOr(root.grantFolder));
}

/** The root's folder, if there is one to go through. */
function openRoot(search: Search, root: SkillRoot): OpenedFolder | RootOutcome {
  const { path } = root;
  const stats = statOrReason(path);
  if (stats === "missing") {
    if (root.explicit) search.report(path, FINDINGS.missing(path));
    return "missing";
  }
  if (stats === "unreadable") {
    search.report(path, FINDINGS.unreadable(path));
    return "unreadable";
  }
  // A project controls its skills folder, so as a link it may not point the search elsewhere.
  if (leavesProject(root, search.realRoot)) {
    search.report(path, FINDINGS.leavesProject(path, search.realRoot));
    return "link-escapes";
  }
  if (stats.isDirectory())
    return openTop(search, { path, real: search.realRoot, depth: 0, explicit: root.explicit });
  return stats.isFile() ? searchFile(search, root) : notADirectory(search, root);
}

/** A root may be a skill file if it was requested by name. */
function searchFile(search: Search, root: SkillRoot): RootOutcome {
  const form = formOfFile(root.path);
  if (!root.explicit || form === undefined) return notADirectory(search, root);
  search.found.push({ candidate: candidateForFile(root.path, form), realFile: search.realRoot });
  return "searched";
}

function notADirectory(search: Search, { path, explicit }: SkillRoot): RootOutcome {
  search.report(path, FINDINGS.notADirectory(path, explicit));
  return "not-a-directory";
}

function statOrReason(path: string): Stats | "missing" | "unreadable" {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "missing" : "unreadable";
  }
}

interface Folder {
  readonly path: string;
  readonly real: string;
  readonly depth: number;
  /** The root, requested by name: it may be a skill folder itself. */
  readonly explicit?: boolean;
  readonly rules?: IgnoreRules | undefined;
  /** A `.gitignore` hides it: it is searched only to report what it hides. */
  readonly ignored?: boolean;
  /** The enclosing skill, with the rest of its limit. */
  readonly inside?: EnclosingSkill | undefined;
}

interface EnclosingSkill {
  readonly skillFile: string;
  left: number;
}

interface OpenedFolder {
  readonly here: Folder;
  readonly listing: ListedFolder;
  readonly inside: EnclosingSkill | undefined;
}

function openTop(search: Search, folder: Folder): OpenedFolder | RootOutcome {
  const known = search.refind();
  if (known === undefined) return openFolder(search, folder);
  for (const file of known) takeKnown(search, folder, file);
  return "searched";
}

function takeKnown(search: Search, top: Folder, file: string): void {
  const realFile = top.real === top.path ? file : top.real + file.slice(top.path.length);
  const directory = file.slice(0, file.lastIndexOf(sep));
  search.found.push({ candidate: candidateForFile(file, "directory", directory), realFile });
}

function searchFolder(search: Search, folder: Folder): void {
  const opened = openFolder(search, folder);
  if (typeof opened === "string") return;
  for (const name of opened.listing.folders) enterFolder(search, opened.here, name, opened.inside);
  followLinks(search, opened);
}

/** Lists a folder and takes its skill file, or reports what happened to it. */
function openFolder(search: Search, folder: Folder): OpenedFolder | RootOutcome {
  const listing = list(search, folder);
  if (listing === undefined) return "unreadable";
  if (!spendListing(search, folder, listing.entries)) return "searched";
  const rules = listing.hasGitignore ? addGitignore(folder.path, folder.rules) : folder.rules;
  const here = rules === folder.rules ? folder : { ...folder, rules };
  for (const name of listing.specialFiles) {
    const path = below(here.path, name);
    search.report(path, FINDINGS.specialFile(path));
  }

  const skillFile = takeSkillFile(search, here, listing);
  if (here.depth === 0 && skillFile === undefined) {
    for (const name of listing.flatFiles) takeFile(search, here, name);
  }
  const inside =
    here.inside ??
    (skillFile !== undefined && !search.nested
      ? { skillFile, left: search.limits.entriesPerSkill }
      : undefined);
  return { here, listing, inside };
}

function followLinks(search: Search, { here, listing, inside }: OpenedFolder): void {
  if (inside) return;
  for (const name of listing.links) if (!isSkillFileName(name)) followLink(search, here, name);
}

/** Takes the folder's skill file, the exact name first; reports the others. Returns the path it took. */
function takeSkillFile(search: Search, folder: Folder, listing: ListedFolder): string | undefined {
  const linked = listing.links.length > 0 ? listing.links.filter(isSkillFileName) : listing.links;
  const names = linked.length > 0 ? [...listing.skillFiles, ...linked] : [...listing.skillFiles];
  if (names.length === 0) return undefined;
  if (names.length > 1) names.sort((a, b) => Number(b === "SKILL.md") - Number(a === "SKILL.md"));
  if (folder.depth === 0 && !folder.explicit) {
    for (const name of names) {
      const file = below(folder.path, name);
      search.report(file, FINDINGS.skillFileInRoot(file, folder.path));
    }
    return undefined;
  }
  let taken: string | undefined;
  for (const name of names) {
    const file = below(folder.path, name);
    if (taken !== undefined) search.report(file, FINDINGS.secondFile(file, taken));
    else if (listing.links.includes(name) ? followLink(search, folder, name) : takeFile(search, folder, name))
      taken = file;
  }
  return taken;
}

function enterFolder(search: Search, parent: Folder, name: string, inside: EnclosingSkill | undefined): void {
  if (SKIPPED_FOLDERS.has(name) || !spendPlace(search, inside)) return;
  const path = below(parent.path, name);
  if (isSkillFileName(name)) search.report(path, FINDINGS.specialFile(path));
  if (isTooDeep(search, parent, path)) return;
  searchFolder(search, {
    path,
    real: realBelow(parent, name, path),
    depth: parent.depth + 1,
    rules: parent.rules,
    inside,
    ignored: parent.ignored || (parent.rules?.hides(path, true) ?? false),
  });
}

/**
 * A link to a skill file, a flat skill or a folder: followed only into known roots. Returns whether a file was taken.
 */
function followLink(search: Search, parent: Folder, name: string): boolean {
  if (!spendPlace(search, parent.inside)) return false;
  const path = below(parent.path, name);
  const target = statOrReason(path);
  if (typeof target === "string") {
    search.report(path, FINDINGS.dangling(path));
    return false;
  }
  const isSkill = isSkillFileName(name) || (parent.depth === 0 && formOfFile(name) !== undefined);
  if (!target.isDirectory() && !target.isFile() && isSkill) search.report(path, FINDINGS.specialFile(path));
  if (!target.isDirectory() && !(target.isFile() && isSkill)) return false;
  const real = search.realPathOf(path);
  if (!search.isKnown(real)) {
    search.report(path, FINDINGS.escape(path, real));
    return false;
  }
  if (target.isFile()) return takeFile(search, parent, name, real);
  enterLinkedFolder(search, parent, path, real);
  return false;
}

function enterLinkedFolder(search: Search, parent: Folder, path: string, real: string): void {
  // A link to a parent folder would lead in circles.
  if (isInside(parent.real, real) || search.linked.has(real) || SKIPPED_FOLDERS.has(basename(real))) return;
  search.linked.add(real);
  if (isTooDeep(search, parent, path)) return;
  const ignored = parent.ignored || (parent.rules?.hides(path, false) ?? false);
  searchFolder(search, { path, real, depth: parent.depth + 1, rules: parent.rules, ignored });
}

/** Whether a folder inside this one is too deep to search; reported once for all of them. */
function isTooDeep(search: Search, { depth }: Folder, path: string): boolean {
  if (depth < search.limits.depth) return false;
  search.report(path, FINDINGS.depth(path, search), "depth");
  return true;
}

/**
 * Whether the file is the folder's skill: found, or part of an enclosing skill; not a hidden one. `target` is its link
 * target, if it is a link.
 */
function takeFile(search: Search, folder: Folder, name: string, target?: string): boolean {
  const file = below(folder.path, name);
  const form = formOfFile(name);
  if (form === undefined) return false;
  if (folder.ignored || folder.rules?.hides(file, false)) {
    if (form === "directory") search.report(file, FINDINGS.ignored(file));
    return false;
  }
  if (form !== "directory" && !spendPlace(search, folder.inside)) return false;
  if (folder.inside) search.report(file, FINDINGS.nested(file, folder.inside.skillFile));
  else {
    const realFile = target ?? realBelow(folder, name, file);
    search.found.push({ candidate: candidateForFile(file, form, folder.path), realFile });
  }
  return true;
}

function list(search: Search, folder: Folder): ListedFolder | undefined {
  try {
    return search.listFolder(folder.path, folder.depth === 0, folder.real);
  } catch (error) {
    search.report(folder.path, FINDINGS.unlistable(folder.path, folder.depth === 0, error));
    return undefined;
  }
}

/** Whether a folder with this many entries may be searched within the remaining limits on entries. */
function spendListing(search: Search, { inside }: Folder, entries: number): boolean {
  const { limits, used } = search;
  used.all += entries;
  if (used.all > limits.entriesInAll) return refuse(search, search.realRoot, limits.entriesInAll);
  if (inside === undefined) return true;
  inside.left -= entries;
  return inside.left >= 0 || refuse(search, dirname(inside.skillFile), limits.entriesPerSkill);
}

/** Whether one more path may be checked within the remaining limit on paths outside skills. */
function spendPlace(search: Search, inside: EnclosingSkill | undefined): boolean {
  if (inside) return true;
  search.used.places += 1;
  return (
    search.used.places <= search.limits.entries || refuse(search, search.realRoot, search.limits.entries)
  );
}

function refuse(search: Search, path: string, limit: number): false {
  search.report(path, FINDINGS.entryLimit(path, limit), path);
  return false;
}

/** The real path of an entry that is not a link: `path` itself, the same string, unless a link led to the folder. */
function realBelow(folder: Folder, name: string, path: string): string {
  return folder.real === folder.path ? path : below(folder.real, name);
}

/** Both parts are already normalized; `join` would parse them again for every entry of the search. */
function below(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}
