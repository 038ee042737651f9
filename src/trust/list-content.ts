/**
 * Which files make up a skill: everything below its folder, or the one file of a flat skill.
 * Hashes nothing; a skill that cannot be covered whole gives a diagnostic instead of a part.
 */
import { realpathSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type FileListing, listFiles } from "../host/list-files.ts";
import { isInside } from "../host/places.ts";
import type { SkillForm } from "../skill/skill.ts";
import { type IdentityFault, identityFault, unreadableFault } from "./identity-fault.ts";

/** Where a skill's content is. A `Skill` of a catalog is one. */
export interface SkillContent {
  readonly form: SkillForm;
  /** The skill file, absolute. */
  readonly location: string;
  readonly directory: string;
}

export interface IdentityLimits {
  /** Files and folders. */
  readonly entries: number;
  readonly bytes: number;
}

export const IDENTITY_LIMITS: IdentityLimits = { entries: 20_000, bytes: 512 * 1024 * 1024 };

export interface ContentFile {
  /** Its name in the identity: below the skill's folder, with `/` between segments. */
  readonly path: string;
  /** Where it is read, absolute. */
  readonly file: string;
  readonly kind: "file" | "link";
}

export type ContentListing = { readonly ok: true; readonly files: readonly ContentFile[] } | IdentityFault;

/** The folder or flat file itself may be reached over a link; below it, links are entries like any other. */
export function listContent(content: SkillContent, limits: IdentityLimits = IDENTITY_LIMITS): ContentListing {
  let skillFile: string;
  let root: string;
  try {
    skillFile = realpathSync.native(content.location);
    root = content.form === "directory" ? realpathSync.native(content.directory) : skillFile;
    if (!statSync(skillFile).isFile()) return specialFault(skillFile);
  } catch (error) {
    return unreadableFault(content.location, error);
  }
  // A flat skill goes by the name it is reached by, which is also its default skill name.
  if (root === skillFile) {
    return { ok: true, files: [{ path: basename(content.location), file: skillFile, kind: "file" }] };
  }
  if (!isInside(skillFile, root)) {
    const message = `The skill file leads out of its folder, to \`${skillFile}\`: the folder does not tell its content.`;
    return identityFault("identity.skill-file-outside", content.location, message);
  }
  return coverFolder(root, listFiles(root, limits.entries));
}

/** The same for a folder as such, whichever file in it is the skill's. */
export function listFolderContent(folder: string, limits: IdentityLimits = IDENTITY_LIMITS): ContentListing {
  try {
    const root = realpathSync.native(folder);
    return coverFolder(root, listFiles(root, limits.entries));
  } catch (error) {
    return unreadableFault(folder, error);
  }
}

function coverFolder(root: string, listing: FileListing): ContentListing {
  if (!listing.ok) return listingFault(listing);
  const files: ContentFile[] = [];
  for (const { path, kind } of listing.files) {
    const file = join(root, path);
    if (kind === "special") return specialFault(file);
    files.push({ path, file, kind });
  }
  return { ok: true, files };
}

function listingFault({ fault, path, detail }: FileListing & { readonly ok: false }): IdentityFault {
  switch (fault) {
    case "too-many":
      return identityFault("identity.limit", path, `The skill has ${detail}.`);
    case "name-not-utf8":
      return identityFault("identity.name-not-utf8", path, `The file name \`${detail}\` is not UTF-8.`);
    case "unreadable":
      return unreadableFault(path, new Error(detail));
  }
}

function specialFault(file: string): IdentityFault {
  return identityFault("identity.special-file", file, "It is not a regular file, so no digest can cover it.");
}
