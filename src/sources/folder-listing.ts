/** What a folder holds, as far as the search for skills cares. Small enough to be kept in the index. */
import { type Dirent, readdirSync } from "node:fs";
import { compareText } from "../foundation/diagnostic.ts";

export interface FolderListing {
  readonly folders: readonly string[];
  /** `SKILL.md` in any case. */
  readonly skillFiles: readonly string[];
  /** `.md`, `.yaml` and `.yml` files that are not skill files; kept for the top of a root only. */
  readonly flatFiles: readonly string[];
  /** Symbolic links, wherever they lead. */
  readonly links: readonly string[];
  /** Entries with a skill file's name that are neither file, folder nor link. */
  readonly specialFiles: readonly string[];
  readonly hasGitignore: boolean;
  /** How many entries the folder has in all. */
  readonly entries: number;
}

/** Lists a folder; throws what `readdir` throws. The index stands in for it where nothing changed. */
export type ListFolder = (path: string, top: boolean) => FolderListing;

const FLAT_FILE = /\.(?:md|ya?ml)$/i;

export function isSkillFileName(name: string): boolean {
  return name.length === 8 && (name === "SKILL.md" || name.toLowerCase() === "skill.md");
}

const NONE: readonly string[] = Object.freeze([]);

/** A folder with nothing that a search cares about. */
export const EMPTY_LISTING: Omit<FolderListing, "entries"> = Object.freeze({
  folders: NONE,
  skillFiles: NONE,
  flatFiles: NONE,
  links: NONE,
  specialFiles: NONE,
  hasGitignore: false,
});

/** What most skill folders are: `SKILL.md` and nothing else of the kind. */
export const PLAIN_LISTING: Omit<FolderListing, "entries"> = Object.freeze({
  ...EMPTY_LISTING,
  skillFiles: Object.freeze(["SKILL.md"]),
});

const LONE_SKILL_FILE: FolderListing = Object.freeze({ ...PLAIN_LISTING, entries: 1 });

export function readFolderListing(path: string, top: boolean): FolderListing {
  const entries = readdirSync(path, { withFileTypes: true });
  const [first] = entries;
  if (entries.length === 1 && first?.name === "SKILL.md" && first.isFile()) return LONE_SKILL_FILE;
  return sortEntries(entries, top);
}

function sortEntries(entries: readonly Dirent[], top: boolean): FolderListing {
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
