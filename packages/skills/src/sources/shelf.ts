/**
 * Gives skills without a folder one: each under the digest of its content, put in place by one rename, never changed.
 * In the cache folder or, if nothing may be stored or written there, in a folder that ends with the process.
 */
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { removeFolder } from "@metier/base/files";
import { digestFiles, type IdentifiedFile, identifyFolder } from "../trust/content-identity.ts";

/** A file for a skill's folder. */
export interface ShelvedFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly executable: boolean;
}

/** Where a skill's files are now, and their content identity. */
export interface ShelvedSkill {
  readonly folder: string;
  readonly digest: string;
}

export interface Shelf {
  /** `name` is a single path segment, and the files' paths are contained: both were checked. */
  put(name: string, files: readonly ShelvedFile[]): ShelvedSkill;
  /** Whether the files still exist unchanged. */
  holds(skill: ShelvedSkill): boolean;
}

/** Nothing is written before the first skill is added. */
export function openShelf(cacheFolder: string | undefined): Shelf {
  let place: string | undefined;
  const open = (): string => {
    place ??= openKept(cacheFolder) ?? openTemporary();
    return place;
  };
  const holds = ({ folder, digest }: ShelvedSkill): boolean => {
    const identified = identifyFolder(folder);
    return identified.ok && identified.value.digest === digest;
  };
  return {
    holds,
    put(name, files) {
      const digest = digestOf(files);
      const shelved = { folder: join(open(), digest.slice("sha256:".length), name), digest };
      if (!holds(shelved)) fill(open(), shelved, files, holds);
      touch(dirname(shelved.folder));
      return shelved;
    },
  };
}

/** As `identifyFolder` will find it. On Windows nothing is executable. */
function digestOf(files: readonly ShelvedFile[]): string {
  const identified = files.map(
    ({ path, bytes, executable }): IdentifiedFile => ({
      path,
      kind: "file",
      size: bytes.length,
      executable: executable && process.platform !== "win32",
      digest: digestBytes(bytes),
    }),
  );
  return digestFiles(identified.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))));
}

/** Another process may be faster; wrong content is replaced. */
function fill(
  shelf: string,
  shelved: ShelvedSkill,
  files: readonly ShelvedFile[],
  holds: Shelf["holds"],
): void {
  const incoming = join(shelf, `.incoming-${randomUUID()}`);
  try {
    for (const { path, bytes, executable } of files) {
      const file = join(incoming, path);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, bytes, { flag: "wx", mode: executable ? 0o500 : 0o400 });
    }
    mkdirSync(dirname(shelved.folder), { recursive: true, mode: 0o700 });
    removeFolder(shelved.folder);
    try {
      renameSync(incoming, shelved.folder);
    } catch (fault) {
      if (!holds(shelved)) throw fault;
    }
  } finally {
    removeFolder(incoming);
  }
}

const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** `undefined` if it cannot be written. Removes what no load has used in a month. */
function openKept(cacheFolder: string | undefined): string | undefined {
  if (cacheFolder === undefined) return undefined;
  const shelf = join(cacheFolder, "sources");
  try {
    mkdirSync(shelf, { recursive: true, mode: 0o700 });
    const probe = join(shelf, `.incoming-${randomUUID()}`);
    mkdirSync(probe, { mode: 0o700 });
    removeFolder(probe);
    for (const name of readdirSync(shelf)) {
      const folder = join(shelf, name);
      const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
      if (age > KEPT_DAYS * DAY_MS) removeFolder(folder);
    }
    return shelf;
  } catch {
    return undefined; // A read-only home, as on many servers.
  }
}

const temporary = new Set<string>();

function openTemporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "metier-skills-"));
  if (temporary.size === 0) process.once("exit", removeTemporary);
  temporary.add(folder);
  return folder;
}

function removeTemporary(): void {
  for (const folder of temporary) removeFolder(folder);
}

/** Its age counts from its last use by a load. */
function touch(folder: string): void {
  try {
    const now = new Date();
    utimesSync(folder, now, now);
  } catch {
    // Another process removed it, which the next use notices.
  }
}
