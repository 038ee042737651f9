/** The compact forms in which the index keeps listings and checked skills: most of both is the same for most skills. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { CheckedSkill } from "../skill/skill.ts";
import { EMPTY_LISTING, type FolderListing, PLAIN_LISTING } from "../sources/folder-listing.ts";
import { MANIFEST_DEFAULTS } from "../validate/build-manifest.ts";

/**
 * A folder with nothing but `SKILL.md` and other files is kept as its number of entries alone, any other without the
 * fields that are empty.
 */
export type PackedListing = number | (Partial<FolderListing> & Pick<FolderListing, "entries">);

export interface PackedChecked {
  /** Without the fields that have their default value. */
  readonly manifest?: Partial<SkillManifest>;
  /** Without their path, which is the file's. */
  readonly diagnostics?: readonly Omit<Diagnostic, "path">[];
  readonly lines: number;
  readonly characters: number;
}

export function packListing(listing: FolderListing): string {
  const { folders, skillFiles, flatFiles, links, specialFiles, hasGitignore, entries } = listing;
  const isPlain =
    skillFiles.length === 1 &&
    skillFiles[0] === "SKILL.md" &&
    folders.length + flatFiles.length + links.length + specialFiles.length === 0 &&
    !hasGitignore;
  if (isPlain) return String(entries);
  const unlessEmpty = (names: readonly string[]) => (names.length > 0 ? names : undefined);
  const packed: { readonly [K in keyof FolderListing]: FolderListing[K] | undefined } = {
    folders: unlessEmpty(folders),
    skillFiles: unlessEmpty(skillFiles),
    flatFiles: unlessEmpty(flatFiles),
    links: unlessEmpty(links),
    specialFiles: unlessEmpty(specialFiles),
    hasGitignore: hasGitignore || undefined,
    entries,
  };
  return JSON.stringify(packed);
}

export function unpackListing(packed: PackedListing): FolderListing {
  return typeof packed === "number" ? { ...PLAIN_LISTING, entries: packed } : { ...EMPTY_LISTING, ...packed };
}

export function packChecked({ manifest, diagnostics, body }: CheckedSkill, file: string): string {
  const packed: PackedChecked = {
    ...(manifest && { manifest: withoutDefaults(manifest) }),
    ...(diagnostics.length > 0 && {
      diagnostics: diagnostics.map(({ path, ...rest }) => (path === file ? rest : { ...rest, path })),
    }),
    lines: body.lines,
    characters: body.characters,
  };
  return JSON.stringify(packed);
}

export function unpackChecked(packed: PackedChecked, file: string): CheckedSkill {
  const { manifest, diagnostics = [], lines, characters } = packed;
  return {
    ...(manifest && { manifest: { ...MANIFEST_DEFAULTS, ...manifest } }),
    diagnostics: diagnostics.map((entry) => ({ path: file, ...entry })),
    valid: !diagnostics.some(({ severity }) => severity === "error"),
    body: { lines, characters },
  };
}

/** Default lists and maps are shared values, so being the same is enough; an equal one is merely kept. */
function withoutDefaults(manifest: SkillManifest): Partial<SkillManifest> {
  const packed: Record<string, unknown> = {};
  for (const key in manifest) {
    const value = manifest[key as keyof SkillManifest];
    if (value !== MANIFEST_DEFAULTS[key as keyof SkillManifest]) packed[key] = value;
  }
  return packed;
}
