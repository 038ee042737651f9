/** The compact forms in which an index keeps a folder's listing and a checked skill. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { isJsonObject } from "@metier/base/json";
import type { SkillManifest } from "../skill/manifest.ts";
import type { CheckedSkill } from "../skill/skill.ts";
import { EMPTY_LISTING, type ListedFolder, LONE_SKILL_FILE, PLAIN_LISTING } from "../sources/skill-files.ts";
import { MANIFEST_DEFAULTS } from "../validate/build-manifest.ts";

interface PackedChecked {
  /** Without the fields that have their default value. */
  readonly manifest?: Partial<SkillManifest> | undefined;
  /** The path `""` is the file's; it stays in its place, so that a recalled diagnostic is written as a fresh one. */
  readonly diagnostics?: readonly Diagnostic[] | undefined;
  readonly lines: number;
  readonly characters: number;
}

/** A folder with only `SKILL.md` and other files is its number of entries, any other has no empty fields. */
export function packListing(listing: ListedFolder): string {
  const { folders, skillFiles, flatFiles, links, specialFiles, hasGitignore, entries } = listing;
  const isPlain =
    skillFiles.length === 1 &&
    skillFiles[0] === "SKILL.md" &&
    folders.length + flatFiles.length + links.length + specialFiles.length === 0 &&
    !hasGitignore;
  if (isPlain) return String(entries);
  const packed: Record<keyof ListedFolder, unknown> = {
    entries,
    folders: filled(folders),
    skillFiles: filled(skillFiles),
    flatFiles: filled(flatFiles),
    links: filled(links),
    specialFiles: filled(specialFiles),
    hasGitignore: hasGitignore || undefined,
  };
  return JSON.stringify(packed);
}

/** `JSON.stringify` leaves out what is undefined. */
function filled(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names;
}

/** `undefined` for anything but what `packListing` writes. */
export function unpackListing(packed: unknown): ListedFolder | undefined {
  if (packed === 1) return LONE_SKILL_FILE;
  if (typeof packed === "number") return { ...PLAIN_LISTING, entries: packed };
  if (!isJsonObject(packed) || typeof packed.entries !== "number") return undefined;
  const listing = packed as unknown as ListedFolder;
  for (const key in listing) {
    const usual = key === "entries" ? 0 : EMPTY_LISTING[key as keyof typeof EMPTY_LISTING];
    const value = listing[key as keyof ListedFolder];
    if (typeof value !== typeof usual || Array.isArray(value) !== Array.isArray(usual)) return undefined;
  }
  return { ...EMPTY_LISTING, ...listing };
}

export function packChecked({ manifest, diagnostics, body }: CheckedSkill, file: string): string {
  const packed: PackedChecked = {
    manifest: manifest && withoutDefaults(manifest),
    diagnostics:
      diagnostics.length === 0
        ? undefined
        : diagnostics.map((entry) => (entry.path === file ? { ...entry, path: "" } : entry)),
    lines: body.lines,
    characters: body.characters,
  };
  return JSON.stringify(packed);
}

/** `undefined` for anything but what `packChecked` writes. */
export function unpackChecked(packed: unknown, file: string): CheckedSkill | undefined {
  if (!isPackedChecked(packed)) return undefined;
  const { manifest, diagnostics = [], lines, characters } = packed;
  return {
    manifest: manifest && { ...MANIFEST_DEFAULTS, ...manifest },
    diagnostics: diagnostics.map((entry) => ({ ...entry, path: entry.path || file })),
    valid: !diagnostics.some(({ severity }) => severity === "error"),
    body: { lines, characters },
  };
}

function isPackedChecked(value: unknown): value is PackedChecked {
  if (!isJsonObject(value)) return false;
  const { manifest, diagnostics, lines, characters } = value as unknown as PackedChecked;
  if (typeof lines !== "number" || typeof characters !== "number") return false;
  if (diagnostics !== undefined && !Array.isArray(diagnostics)) return false;
  return manifest === undefined || (!!manifest.name && typeof manifest.description === "string");
}

/** Default lists and maps are shared values, so identity is enough; an equal one is just stored. */
function withoutDefaults(manifest: SkillManifest): Partial<SkillManifest> {
  const { name, description } = manifest;
  const packed: Record<string, unknown> = { name, description }; // Always: without them an entry is damaged.
  for (const key in manifest) {
    const value = manifest[key as keyof SkillManifest];
    if (value !== MANIFEST_DEFAULTS[key as keyof SkillManifest]) packed[key] = value;
  }
  return packed;
}
