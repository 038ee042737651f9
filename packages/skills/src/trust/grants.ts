/**
 * A user's trust decisions as data, their form in `grants.json` (`grant-store.ts` reads and writes the file), and what
 * they mean for the current files.
 */
import { lstatSync, realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isDigest } from "@metier/base/digest";
import { isJsonObject } from "@metier/base/json";
import { isInside } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import {
  type ContentChange,
  type ContentIdentity,
  compareFile,
  compareIdentity,
  type FileChange,
  identifyContent,
  identifyFile,
  type StampedFile,
  stampOf,
} from "./content-identity.ts";
import {
  type ContentFile,
  IDENTITY_LIMITS,
  listContent,
  refuseUnreadable,
  type SkillContent,
} from "./list-content.ts";

/** A decision about a folder and everything in it. Survives edits. */
export interface FolderGrant {
  /** The real path. */
  readonly path: string;
  /** `denied` is a recorded no: the question is not asked again. */
  readonly decision: "trusted" | "denied";
  /** `sha256:…` of the folder's project config file, if that was part of the decision. */
  readonly configDigest?: string | undefined;
  /** The same for a config file that was refused while the folder stays trusted. */
  readonly refusedConfigDigest?: string | undefined;
  /** When the user decided, in ISO 8601. */
  readonly decidedAt: string;
}

/** A decision about one skill's exact content. Any change to its content ends it. */
export interface SkillGrant {
  /** The skill's name. */
  readonly name: string;
  /** Where the skill file was. */
  readonly location: string;
  /** The content identity. */
  readonly digest: string;
  /** The files at that time. */
  readonly files: readonly StampedFile[];
  /** When the user decided, in ISO 8601. */
  readonly decidedAt: string;
}

export interface Grants {
  /** Folders that the user decided about. */
  readonly folders: readonly FolderGrant[];
  /** Skills that the user decided about, each by its content. */
  readonly skills: readonly SkillGrant[];
}

const GRANTS_VERSION = 1;

/** The decision for a real path: that of the nearest folder above it. */
export function nearestFolderGrant(
  folders: readonly FolderGrant[],
  realPath: string,
): FolderGrant | undefined {
  const above = folders.filter(({ path }) => isInside(realPath, path));
  return above.sort((a, b) => b.path.length - a.path.length)[0];
}

/** Whether a folder's project config may count in full: it was part of the decision, and is unchanged. */
export function isConfigGranted(
  folders: readonly FolderGrant[],
  realFolder: string,
  configDigest: string,
): boolean {
  const grant = nearestFolderGrant(folders, realFolder);
  return grant?.decision === "trusted" && grant.configDigest === configDigest;
}

/** The grants that may apply to a skill, likeliest first: those made at its location, then those with its name. */
export function findSkillGrants(
  skills: readonly SkillGrant[],
  name: string,
  location: string,
): readonly SkillGrant[] {
  const named = skills.filter((grant) => grant.name === name);
  return [
    ...named.filter((grant) => grant.location === location),
    ...named.filter((grant) => grant.location !== location),
  ];
}

export function renderGrants(grants: Grants): string {
  return `${JSON.stringify({ version: GRANTS_VERSION, ...grants }, undefined, 1)}\n`;
}

/**
 * The grants in the text, or what is wrong with it. All or nothing: a partly understood list of grants is not a
 * decision.
 */
export function parseGrants(text: string): Result<Grants, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return refused(`it is not JSON: ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) return refused("it is not a JSON object");
  if (value.version !== GRANTS_VERSION) {
    const written = JSON.stringify(value.version)?.slice(0, 40);
    return refused(`its version is ${written}; this Metier supports version ${GRANTS_VERSION}`);
  }
  const folders = readList(value.folders, readFolderGrant);
  if (!folders) return refused("`folders` is not a list of folder grants");
  const skills = readList(value.skills, readSkillGrant);
  if (!skills) return refused("`skills` is not a list of skill grants");
  return done({ folders, skills });
}

// Each reader copies the named fields into a fresh object, so nothing else in the file comes along.

type Fields = Readonly<Record<string, unknown>>;

function readFolderGrant(fields: Fields): FolderGrant | undefined {
  const { path, decision, configDigest, refusedConfigDigest, decidedAt } = fields;
  if (typeof path !== "string" || !isAbsolute(path) || typeof decidedAt !== "string") return undefined;
  if (decision !== "trusted" && decision !== "denied") return undefined;
  if (!isDigestOrAbsent(configDigest) || !isDigestOrAbsent(refusedConfigDigest)) return undefined;
  return { path, decision, configDigest, refusedConfigDigest, decidedAt };
}

function readSkillGrant(fields: Fields): SkillGrant | undefined {
  const { name, location, digest, decidedAt } = fields;
  if (typeof name !== "string" || typeof location !== "string" || typeof decidedAt !== "string")
    return undefined;
  const files = readList(fields.files, readStampedFile);
  return files && isDigest(digest) ? { name, location, digest, files, decidedAt } : undefined;
}

function readStampedFile(fields: Fields): StampedFile | undefined {
  const { path, kind, size, executable, digest, stamp } = fields;
  if (typeof path !== "string" || typeof stamp !== "string" || typeof executable !== "boolean")
    return undefined;
  if (typeof size !== "number" || !Number.isSafeInteger(size) || !isDigest(digest)) return undefined;
  return kind === "file" || kind === "link" ? { path, kind, size, executable, digest, stamp } : undefined;
}

function readList<T>(value: unknown, read: (fields: Fields) => T | undefined): readonly T[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items: T[] = [];
  for (const entry of value) {
    const item = isJsonObject(entry) ? read(entry) : undefined;
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function isDigestOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isDigest(value);
}

export type GrantCheck =
  | { readonly valid: true }
  /** `diagnostic` says why the content cannot be compared at all. */
  | { readonly valid: false; readonly changes: readonly FileChange[]; readonly diagnostic?: Diagnostic };

/**
 * Whether a skill grant still holds. For a use (`rehash`) everything is hashed again. For a list the grant's stored
 * stamps answer; only a file with a different stamp (touched, restored, on a renumbered device) is hashed.
 */
export function checkSkillGrant(
  grant: SkillGrant,
  content: SkillContent,
  { rehash }: { readonly rehash: boolean },
): GrantCheck {
  return rehash ? compareWithGrant(grant, identifyContent(content)) : checkStamps(grant, content);
}

/** For content that was just hashed. */
export function compareWithGrant(
  grant: SkillGrant,
  identified: Result<ContentIdentity, Diagnostic>,
): GrantCheck {
  if (!identified.ok) return { valid: false, changes: [], diagnostic: identified.refusal };
  const { digest, files } = identified.value;
  if (digest === grant.digest) return { valid: true };
  return { valid: false, changes: compareIdentity(grant.files, files) };
}

function checkStamps(grant: SkillGrant, content: SkillContent): GrantCheck {
  const listing = listContent(content);
  if (!listing.ok) return { valid: false, changes: [], diagnostic: listing.refusal };
  const unseen = new Map(grant.files.map((file) => [file.path, file]));
  const changes: FileChange[] = [];
  for (const entry of listing.value) {
    const compared = compareEntry(unseen.get(entry.path), entry);
    if (!compared.ok) return { valid: false, changes: [], diagnostic: compared.refusal };
    if (compared.value) changes.push({ path: entry.path, change: compared.value });
    unseen.delete(entry.path);
  }
  for (const path of unseen.keys()) changes.push({ path, change: "removed" });
  if (changes.length === 0) return { valid: true };
  return { valid: false, changes: changes.sort((a, b) => compareText(a.path, b.path)) };
}

function compareEntry(
  before: StampedFile | undefined,
  entry: ContentFile,
): Result<ContentChange | undefined, Diagnostic> {
  if (!before) return done("added");
  if (before.kind !== entry.kind) return done("changed");
  try {
    const now = lstatSync(entry.file, { bigint: true });
    if (stampOf(now) === before.stamp) return done(undefined);
    if (Number(now.size) !== before.size) return done("changed");
  } catch (error) {
    return refuseUnreadable(entry.file, error);
  }
  const identified = identifyFile(entry, IDENTITY_LIMITS.bytes);
  return identified.ok ? done(compareFile(before, identified.value)) : identified;
}

/**
 * The config's `trusted-paths` as real paths: only what exists can be trusted. `configured` are absolute paths as
 * written; a link counts as its current target.
 */
export function resolveTrustedPaths(configured: readonly string[]): {
  readonly paths: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const paths: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const path of configured) {
    try {
      paths.push(realpathSync.native(path));
    } catch {
      const message = `The trusted path \`${path}\` does not exist, so it has no effect.`;
      const hint = "Fix or remove it in `trusted-paths`.";
      diagnostics.push({ code: "trust.path-missing", severity: "warning", path, message, hint });
    }
  }
  return { paths, diagnostics };
}
