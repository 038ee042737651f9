/**
 * What a user decided to trust, as data, and its form in `grants.json`. Reading and writing the file is
 * `grant-store.ts`. The file is taken whole or not at all: a half-understood list of grants is not a decision.
 */
import { isAbsolute } from "node:path";
import { isInside } from "../host/places.ts";
import type { StampedFile } from "./identify-file.ts";

/** A decision about a folder and everything below it. Survives edits. */
export interface FolderGrant {
  /** The real path. */
  readonly path: string;
  /** `denied` is a recorded no: the question is not asked again. */
  readonly decision: "trusted" | "denied";
  /** `sha256:…` of the folder's project config file, when that was part of the decision. */
  readonly configDigest?: string;
  /** The same of a config file that was refused while the folder stays trusted. */
  readonly refusedConfigDigest?: string;
  readonly decidedAt: string;
}

/** A decision about one skill as it is, byte for byte. Any change to its content ends it. */
export interface SkillGrant {
  readonly name: string;
  /** Where the skill file stood. */
  readonly location: string;
  /** The content identity. */
  readonly digest: string;
  readonly files: readonly StampedFile[];
  readonly decidedAt: string;
}

export interface Grants {
  readonly folders: readonly FolderGrant[];
  readonly skills: readonly SkillGrant[];
}

export const GRANTS_VERSION = 1;

/** The decision that counts for a real path: the one on the nearest folder above it. */
export function nearestFolderGrant(
  folders: readonly FolderGrant[],
  realPath: string,
): FolderGrant | undefined {
  let nearest: FolderGrant | undefined;
  for (const grant of folders) {
    if (grant.path.length > (nearest?.path.length ?? -1) && isInside(realPath, grant.path)) nearest = grant;
  }
  return nearest;
}

/** Whether a folder's project config may count in full: it was part of the decision, and is still the same. */
export function isConfigGranted(
  folders: readonly FolderGrant[],
  realFolder: string,
  configDigest: string,
): boolean {
  const grant = nearestFolderGrant(folders, realFolder);
  return grant?.decision === "trusted" && grant.configDigest === configDigest;
}

/** The grants that may hold for a skill, likeliest first: those made where it stands, then those of its name. */
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

/** The grants in the text, or what is wrong with it. */
export function parseGrants(text: string): Grants | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is not JSON: ${(error as Error).message}`;
  }
  if (!isRecord(value)) return "it is not a JSON object";
  if (value.version !== GRANTS_VERSION) {
    return `its version is ${JSON.stringify(value.version)?.slice(0, 40)}, and this Metier reads version ${GRANTS_VERSION}`;
  }
  const folders = readList(value.folders, readFolderGrant);
  if (!folders) return "`folders` is not a list of folder grants";
  const skills = readList(value.skills, readSkillGrant);
  if (!skills) return "`skills` is not a list of skill grants";
  return { folders, skills };
}

// Each reader takes the named fields into a fresh object, so nothing else in the file comes along.

type Fields = Readonly<Record<string, unknown>>;

function readFolderGrant(fields: Fields): FolderGrant | undefined {
  const { path, decision, configDigest, refusedConfigDigest, decidedAt } = fields;
  if (typeof path !== "string" || !isAbsolute(path) || typeof decidedAt !== "string") return undefined;
  if (decision !== "trusted" && decision !== "denied") return undefined;
  if (!isDigestOrAbsent(configDigest) || !isDigestOrAbsent(refusedConfigDigest)) return undefined;
  return {
    path,
    decision,
    ...(configDigest && { configDigest }),
    ...(refusedConfigDigest && { refusedConfigDigest }),
    decidedAt,
  };
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
    const item = isRecord(entry) ? read(entry) : undefined;
    if (item === undefined) return undefined;
    items.push(item);
  }
  return items;
}

function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDigestOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || isDigest(value);
}

function isDigest(value: unknown): value is string {
  return typeof value === "string" && /^sha256:[0-9a-f]{64}$/.test(value);
}
