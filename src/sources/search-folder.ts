/**
 * One folder of the search, and the folders below it. A folder with a skill file is a skill; skill files below it
 * are part of its content and are reported, unless nested skills were asked for.
 */
import { type Stats, statSync } from "node:fs";
import { basename, dirname, sep } from "node:path";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { candidateForFile, formOfFile } from "./candidate.ts";
import { type FolderListing, isSkillFileName } from "./folder-listing.ts";
import { addGitignore, type IgnoreRules } from "./gitignore.ts";
import * as say from "./report-scan.ts";
import type { Scan, ScanOutcome } from "./scan.ts";
import { SKIPPED_FOLDERS } from "./scan-limits.ts";

interface Folder {
  readonly path: string;
  readonly real: string;
  readonly depth: number;
  /** The root, asked for by name: it may be a skill folder itself. */
  readonly explicit?: boolean;
  readonly rules?: IgnoreRules | undefined;
  /** A `.gitignore` hides it: it is searched only to say what it hides. */
  readonly ignored?: boolean;
  /** The skill it lies below, with what that skill may still cost. */
  readonly inside?: EnclosingSkill | undefined;
}

interface EnclosingSkill {
  readonly skillFile: string;
  left: number;
}

export function searchFolder(scan: Scan, folder: Folder): ScanOutcome {
  const listing = list(scan, folder);
  if (listing === undefined) return "unreadable";
  if (!spendListing(scan, folder, listing.entries)) return "searched";
  const rules = listing.hasGitignore ? addGitignore(folder.path, folder.rules) : folder.rules;
  const here = rules === folder.rules ? folder : { ...folder, rules };
  for (const name of listing.specialFiles) say.reportSpecialFile(scan, below(here.path, name));

  const skillFile = takeSkillFile(scan, here, listing);
  if (here.depth === 0 && skillFile === undefined) {
    for (const name of listing.flatFiles) takeFile(scan, here, name);
  }
  const inside =
    here.inside ??
    (skillFile !== undefined && !scan.nested ? { skillFile, left: scan.limits.entriesPerSkill } : undefined);
  for (const name of listing.folders) enterFolder(scan, here, name, inside);
  if (!inside) {
    for (const name of listing.links) if (!isSkillFileName(name)) followLink(scan, here, name);
  }
  return "searched";
}

/** Takes the folder's skill file, the exact name first; says what becomes of others. Returns the path it took. */
function takeSkillFile(scan: Scan, folder: Folder, listing: FolderListing): string | undefined {
  const linked = listing.links.length > 0 ? listing.links.filter(isSkillFileName) : listing.links;
  const names = linked.length > 0 ? [...listing.skillFiles, ...linked] : [...listing.skillFiles];
  if (names.length === 0) return undefined;
  if (names.length > 1) names.sort((a, b) => Number(b === "SKILL.md") - Number(a === "SKILL.md"));
  if (folder.depth === 0 && !folder.explicit) {
    for (const name of names) say.reportSkillFileInRoot(scan, folder.path, below(folder.path, name));
    return undefined;
  }
  let taken: string | undefined;
  for (const name of names) {
    const file = below(folder.path, name);
    if (taken !== undefined) say.reportSecondFile(scan, file, taken);
    else if (listing.links.includes(name) ? followLink(scan, folder, name) : takeFile(scan, folder, name))
      taken = file;
  }
  return taken;
}

function enterFolder(scan: Scan, parent: Folder, name: string, inside: EnclosingSkill | undefined): void {
  if (SKIPPED_FOLDERS.has(name) || !spendPlace(scan, inside)) return;
  const path = below(parent.path, name);
  if (isSkillFileName(name)) say.reportSpecialFile(scan, path);
  if (parent.depth >= scan.limits.depth) {
    say.reportDepth(scan, path);
    return;
  }
  searchFolder(scan, {
    path,
    real: realBelow(parent, name, path),
    depth: parent.depth + 1,
    rules: parent.rules,
    inside,
    ignored: parent.ignored || (parent.rules?.hides(path, true) ?? false),
  });
}

/** A link to a skill file, a flat skill or a folder: followed into known roots only. Whether a file was taken. */
function followLink(scan: Scan, parent: Folder, name: string): boolean {
  if (!spendPlace(scan, parent.inside)) return false;
  const path = below(parent.path, name);
  const target = statOrUndefined(path);
  if (target === undefined) {
    say.reportDangling(scan, path);
    return false;
  }
  const isSkill = isSkillFileName(name) || (parent.depth === 0 && formOfFile(name) !== undefined);
  if (!target.isDirectory() && !target.isFile() && isSkill) say.reportSpecialFile(scan, path);
  if (!target.isDirectory() && !(target.isFile() && isSkill)) return false;
  const real = realPathOr(path);
  if (!scan.isKnown(real)) {
    say.reportEscape(scan, path, real);
    return false;
  }
  if (target.isFile()) return takeFile(scan, parent, name, real);
  enterLinkedFolder(scan, parent, path, real);
  return false;
}

function enterLinkedFolder(scan: Scan, parent: Folder, path: string, real: string): void {
  // A link to a folder it stands in would lead in circles.
  if (isInside(parent.real, real) || scan.linked.has(real) || SKIPPED_FOLDERS.has(basename(real))) return;
  scan.linked.add(real);
  if (parent.depth >= scan.limits.depth) {
    say.reportDepth(scan, path);
    return;
  }
  const ignored = parent.ignored || (parent.rules?.hides(path, false) ?? false);
  searchFolder(scan, { path, real, depth: parent.depth + 1, rules: parent.rules, ignored });
}

/**
 * Whether the file is the folder's skill: found, or part of an enclosing skill; not one that is hidden.
 * `target` is where it leads, if it is a link.
 */
function takeFile(scan: Scan, folder: Folder, name: string, target?: string): boolean {
  const file = below(folder.path, name);
  const form = formOfFile(name);
  if (form === undefined) return false;
  if (folder.ignored || folder.rules?.hides(file, false)) {
    if (form === "directory") say.reportIgnored(scan, file);
    return false;
  }
  if (form !== "directory" && !spendPlace(scan, folder.inside)) return false;
  if (folder.inside) say.reportNested(scan, file, folder.inside.skillFile);
  else {
    const realFile = target ?? realBelow(folder, name, file);
    scan.found.push({ candidate: candidateForFile(file, form, folder.path), realFile });
  }
  return true;
}

function list(scan: Scan, folder: Folder): FolderListing | undefined {
  try {
    return scan.listFolder(folder.path, folder.depth === 0);
  } catch (error) {
    say.reportUnlistable(scan, folder.path, folder.depth === 0, error);
    return undefined;
  }
}

/** Whether a folder with this many entries may be searched, by what is left of the limits on entries of any kind. */
function spendListing(scan: Scan, { inside }: Folder, entries: number): boolean {
  const { limits, used } = scan;
  used.all += entries;
  if (used.all > limits.entriesInAll) return refuse(scan, scan.realRoot, limits.entriesInAll);
  if (inside === undefined) return true;
  inside.left -= entries;
  return inside.left >= 0 || refuse(scan, dirname(inside.skillFile), limits.entriesPerSkill);
}

/** Whether one more place may be looked at, by what is left of the limit on places outside of skills. */
function spendPlace(scan: Scan, inside: EnclosingSkill | undefined): boolean {
  if (inside) return true;
  scan.used.places += 1;
  return scan.used.places <= scan.limits.entries || refuse(scan, scan.realRoot, scan.limits.entries);
}

function refuse(scan: Scan, path: string, limit: number): false {
  say.reportEntryLimit(scan, path, limit);
  return false;
}

function statOrUndefined(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined; // Dangling or unreachable: the caller reports it.
  }
}

/** The real path of an entry that is no link: `path` itself, the same string, unless a link led to the folder. */
function realBelow(folder: Folder, name: string, path: string): string {
  return folder.real === folder.path ? path : below(folder.real, name);
}

/** Both parts are clean already; `join` would take them apart again, for every entry of the search. */
function below(folder: string, name: string): string {
  return folder.endsWith(sep) ? folder + name : folder + sep + name;
}
