/**
 * The files of a skill: everything in its folder, or a flat skill's one file. Hashes nothing; a skill that cannot be
 * covered completely gives a diagnostic instead of a part.
 */
import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { type FileListing, listFiles } from "@metier/base/files";
import { isInside } from "@metier/base/places";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import type { SkillForm } from "../skill/skill.ts";

/** Where a skill's content is. A catalog's `Skill` is one. */
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
  /** Its name in the identity: in the skill's folder, with `/` between segments. */
  readonly path: string;
  /** Where it is read, absolute. */
  readonly file: string;
  readonly kind: "file" | "link";
}

export type ContentListing = Result<readonly ContentFile[], Diagnostic>;

/** The folder or flat file itself may be reached through a link; inside it, links are entries like any other. */
export function listContent(content: SkillContent, limits: IdentityLimits = IDENTITY_LIMITS): ContentListing {
  let skillFile: string;
  let root: string;
  try {
    skillFile = realpathSync.native(content.location);
    root = content.form === "directory" ? realFolder(content, skillFile) : skillFile;
    if (!statSync(skillFile).isFile()) return refuseSpecial(skillFile);
  } catch (error) {
    return refuseUnreadable(content.location, error);
  }
  // A flat skill uses the name it is reached by, which is also its default skill name.
  if (root === skillFile) {
    return done([{ path: basename(content.location), file: skillFile, kind: "file" }]);
  }
  if (!isInside(skillFile, root)) {
    const message = `The skill file is outside its folder, at \`${skillFile}\`, so the folder does not determine its content.`;
    return refuseIdentity("identity.skill-file-outside", content.location, message);
  }
  return coverFolder(root, listFiles(root, limits.entries));
}

/** A file that is reached without a link has none above it. */
function realFolder({ location, directory }: SkillContent, skillFile: string): string {
  const isReal = skillFile === location && dirname(location) === directory;
  return isReal ? directory : realpathSync.native(directory);
}

/** The same for a folder, whichever of its files is the skill's. */
export function listFolderContent(folder: string, limits: IdentityLimits = IDENTITY_LIMITS): ContentListing {
  try {
    const root = realpathSync.native(folder);
    return coverFolder(root, listFiles(root, limits.entries));
  } catch (error) {
    return refuseUnreadable(folder, error);
  }
}

function coverFolder(root: string, listing: FileListing): ContentListing {
  if (!listing.ok) return refuseListing(listing);
  const files: ContentFile[] = [];
  for (const { path, kind } of listing.files) {
    const file = join(root, path);
    if (kind === "special") return refuseSpecial(file);
    files.push({ path, file, kind });
  }
  return done(files);
}

function refuseListing({ fault, path, detail }: FileListing & { readonly ok: false }): Refused<Diagnostic> {
  switch (fault) {
    case "too-many":
      return refuseIdentity("identity.limit", path, `The skill has ${detail}.`);
    case "name-not-utf8":
      return refuseIdentity("identity.name-not-utf8", path, `The file name \`${detail}\` is not UTF-8.`);
    case "unreadable":
      return refuseUnreadable(path, new Error(detail));
  }
}

function refuseSpecial(file: string): Refused<Diagnostic> {
  return refuseIdentity(
    "identity.special-file",
    file,
    "It is not a regular file, so it cannot have a digest.",
  );
}

type IdentityCode = Extract<Diagnostic["code"], `identity.${string}`>;

const HINTS: Record<IdentityCode, string> = {
  "identity.unreadable": "Make it readable for your user, or remove it.",
  "identity.limit": "Keep large data outside the skill, or split the skill.",
  "identity.special-file": "Remove it: a skill may contain only files, folders and links.",
  "identity.name-not-utf8": "Rename the file to a UTF-8 name.",
  "identity.unstable": "Wait until nothing writes to the skill anymore, then try again.",
  "identity.skill-file-outside": "Replace the link with its target file.",
};

/** Why a skill has no content identity: one code, one sentence and a hint for each cause. */
export function refuseIdentity(code: IdentityCode, path: string, message: string): Refused<Diagnostic> {
  return refused({ code, severity: "error", path, message, hint: HINTS[code] });
}

export function refuseUnreadable(path: string, error: unknown): Refused<Diagnostic> {
  return refuseIdentity("identity.unreadable", path, `It cannot be read: ${(error as Error).message}.`);
}
