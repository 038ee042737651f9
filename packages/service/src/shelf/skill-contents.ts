/**
 * Skill contents by identity. The authoritative copy is in the snapshots, encrypted with its tenant's key; a folder on
 * this machine caches what was used here. Contents from either are hashed before use: one that doesn't match its
 * identity is refused.
 */
import { copyFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { sayFault } from "@metier/base/diagnostic";
import {
  flushFolder,
  folderName,
  makeOwnedName,
  removeAbandoned,
  removeFolder,
  tryToRemove,
} from "@metier/base/files";
import { done, type Result, refused } from "@metier/base/result";
import { DamagedSnapshotError, type SnapshotRefusal, type SnapshotStore } from "@metier/durable";
import { identifyContent, identifyFolder, type SkillContent } from "@metier/skills/trust";

/** A version of a skill, and its tenant. */
interface ContentKey {
  readonly tenant: string;
  readonly name: string;
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** For a skill from a home: the name of its folder or file there, because that may be its name. */
  readonly entry?: string | undefined;
}

interface StoredContent extends ContentKey {
  /** Where it is stored; absent: only in this machine's folder, as older versions left it. */
  readonly snapshot?: string | undefined;
}

export interface SkillContents {
  /** A new empty folder. Exists until it is removed, at the latest by a later start. */
  makeRoom(): string;
  removeRoom(room: string): void;
  /** Moves a folder with this content into the cache and stores it. Returns its snapshot. */
  takeIn(key: ContentKey, folder: string): Promise<Result<string, SnapshotRefusal>>;
  /** This machine's folder with exactly this content. Refused if it is nowhere, or doesn't match its identity. */
  open(content: StoredContent): Promise<Result<string>>;
  /** Stores content that exists only on this machine. */
  store(key: ContentKey): Promise<Result<string, SnapshotRefusal>>;
  /**
   * Stores content from elsewhere on this machine and leaves it there. Also refused if it isn't, or is no longer, this
   * content.
   */
  publish(key: ContentKey, content: SkillContent): Promise<Result<string, SnapshotRefusal>>;
  /** Only from this machine. */
  remove(key: ContentKey): void;
  /** Everything of a tenant, only from this machine. */
  forget(tenant: string): void;
}

interface ContentParts {
  /** Created if missing. */
  readonly folder: string;
  readonly snapshots: Pick<SnapshotStore, "take" | "restore">;
  readonly now: () => number;
}

const QUARANTINE = ".quarantine";
const HOMES = ".homes";
/** One path segment, but not `.` or `..`. */
const ENTRY = /^(?!\.{1,2}$)[^/\\\0]{1,255}$/;
/** How long a hashed folder is assumed to be unchanged. */
const BELIEVED_MS = 10 * 60_000;

export function openSkillContents({ folder, snapshots, now }: ContentParts): SkillContents {
  const quarantine = join(folder, QUARANTINE);
  mkdirSync(quarantine, { recursive: true, mode: 0o700 });
  removeAbandoned(quarantine); // Left unfinished by a killed process.
  const believed = new Map<string, number>();
  const placeOf = ({ tenant, name, digest, entry }: ContentKey): string => {
    const version = folderName(digest.replace(":", "-"));
    if (entry === undefined) return join(folder, folderName(tenant), folderName(name), version);
    if (!ENTRY.test(entry)) throw new Error(`\`${entry}\` is not the name of a skill folder.`);
    return join(folder, HOMES, folderName(tenant), version, entry);
  };
  const makeRoom = (): string => {
    const room = join(quarantine, makeOwnedName());
    mkdirSync(room, { mode: 0o700 });
    return room;
  };
  const isWhole = (path: string, digest: string): boolean => {
    if (now() - (believed.get(path) ?? Number.NEGATIVE_INFINITY) < BELIEVED_MS) return isFolder(path);
    const isSame = isFolder(path) && digestOf(path) === digest;
    if (isSame) believed.set(path, now());
    else believed.delete(path);
    return isSame;
  };
  return {
    makeRoom,
    removeRoom: tryToRemove,
    store: (key) => snapshots.take(placeOf(key), { tenant: key.tenant }),
    async takeIn(key, from) {
      const stored = await snapshots.take(from, { tenant: key.tenant });
      if (!stored.ok) return stored;
      const path = placeOf(key);
      if (!isWhole(path, key.digest)) moveInto(from, path, key.digest);
      return stored;
    },
    async open(content) {
      const path = placeOf(content);
      if (isWhole(path, content.digest)) return done(path);
      const room = makeRoom();
      try {
        const fetched = await fetchInto(snapshots, content, room, path);
        if (fetched.ok) believed.set(path, now());
        return fetched;
      } finally {
        tryToRemove(room);
      }
    },
    publish: (key, content) => publishContent(snapshots, key, content, makeRoom),
    remove(key) {
      believed.delete(placeOf(key));
      tryToRemove(placeOf(key));
    },
    forget(tenant) {
      believed.clear();
      for (const place of [folder, join(folder, HOMES)]) tryToRemove(join(place, folderName(tenant)));
    },
  };
}

/** Through a temporary folder: content from elsewhere is hashed before it gets the name of its identity. */
async function fetchInto(
  snapshots: ContentParts["snapshots"],
  { tenant, name, digest, snapshot }: StoredContent,
  room: string,
  path: string,
): Promise<Result<string>> {
  if (snapshot === undefined) return refuseContent(name, digest, "neither this machine nor the store has it");
  try {
    const restored = join(room, "content");
    await snapshots.restore(snapshot, restored, { tenant });
    const found = digestOf(restored);
    if (found !== digest) return refuseContent(name, digest, `the stored content is ${found}`);
    moveInto(restored, path, digest);
    return done(path);
  } catch (fault) {
    if (!(fault instanceof DamagedSnapshotError)) throw fault; // The store is unreachable: the next caller tries again.
    return refuseContent(name, digest, sayFault(fault).replace(/\.$/, ""));
  }
}

/** The identity is the same before and after reading, so exactly this content was read. */
async function publishContent(
  snapshots: ContentParts["snapshots"],
  { tenant, name, digest }: ContentKey,
  content: SkillContent,
  makeRoom: () => string,
): Promise<Result<string, SnapshotRefusal>> {
  const room = content.form === "directory" ? undefined : makeRoom();
  try {
    if (room !== undefined) copyFileSync(content.location, join(room, basename(content.location)));
    const stored = await snapshots.take(room ?? content.directory, { tenant });
    if (!stored.ok) return stored;
    const now = identifyContent(content);
    if (now.ok && now.value.digest === digest) return stored;
    return refuseContent(name, digest, "its files changed while they were read");
  } finally {
    if (room !== undefined) tryToRemove(room);
  }
}

function digestOf(folder: string): string | undefined {
  const identity = identifyFolder(folder);
  return identity.ok ? identity.value.digest : undefined;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Replaces what has that name but different content. The same content may have arrived in the meantime. */
function moveInto(from: string, target: string, digest: string): void {
  const parent = join(target, "..");
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (isFolder(target)) {
    if (digestOf(target) === digest) return;
    removeFolder(target);
  }
  try {
    renameSync(from, target);
  } catch (fault) {
    const isTaken = ["ENOTEMPTY", "EEXIST"].includes((fault as NodeJS.ErrnoException).code ?? "");
    if (!isTaken || digestOf(target) !== digest) throw fault;
  }
  flushFolder(parent);
}

function refuseContent(name: string, digest: string, why: string): Result<never> {
  return refused({
    message: `Content ${digest} of the skill \`${name}\` cannot be used: ${why}.`,
    hint: "Upload or publish that version again, or start a new run with another version.",
  });
}
