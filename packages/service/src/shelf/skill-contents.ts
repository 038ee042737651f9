/**
 * What skills consist of, by their content identity. The truth lies among the snapshots, encrypted with the key of whose
 * skill it is; a folder of this machine holds what was used here. Whatever comes from either is hashed before it is used: a
 * content that is not what its identity says is refused, wherever it comes from.
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

/** A version of a skill, and whose it is. */
interface ContentKey {
  readonly tenant: string;
  readonly name: string;
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** Of a skill from a home: what its folder or its file is called there, since that may be its name. */
  readonly entry?: string | undefined;
}

interface StoredContent extends ContentKey {
  /** Where it is stored; absent: it lies in the folder of this machine alone, as older versions left it. */
  readonly snapshot?: string | undefined;
}

export interface SkillContents {
  /** An empty folder of one's own, until it is removed, at the latest by a later start. */
  makeRoom(): string;
  removeRoom(room: string): void;
  /** Stores a folder with this content and keeps it here; afterwards it is gone from where it was. Gives its snapshot. */
  takeIn(key: ContentKey, folder: string): Promise<Result<string, SnapshotRefusal>>;
  /** The folder of this machine with exactly this content. Refused: it is nowhere, or is another one than it is called. */
  open(content: StoredContent): Promise<Result<string>>;
  /** Stores what lies here and nowhere else. */
  store(key: ContentKey): Promise<Result<string, SnapshotRefusal>>;
  /** Stores what lies elsewhere on this machine and stays there. Refused also where it is not, or not any more, this content. */
  publish(key: ContentKey, content: SkillContent): Promise<Result<string, SnapshotRefusal>>;
  /** From this machine. */
  remove(key: ContentKey): void;
  /** All of a tenant, from this machine. */
  forget(tenant: string): void;
}

interface ContentParts {
  /** Made when it is missing. */
  readonly folder: string;
  readonly snapshots: Pick<SnapshotStore, "take" | "restore">;
  readonly now: () => number;
}

const QUARANTINE = ".quarantine";
const HOMES = ".homes";
/** One segment of a path, and not `.` or `..`. */
const ENTRY = /^(?!\.{1,2}$)[^/\\\0]{1,255}$/;
/** How long a folder that was hashed is believed to be as it was. */
const BELIEVED_MS = 10 * 60_000;

export function openSkillContents({ folder, snapshots, now }: ContentParts): SkillContents {
  const quarantine = join(folder, QUARANTINE);
  mkdirSync(quarantine, { recursive: true, mode: 0o700 });
  removeAbandoned(quarantine); // What a process that was killed had begun.
  const believed = new Map<string, number>();
  const placeOf = ({ tenant, name, digest, entry }: ContentKey): string => {
    const version = folderName(digest.replace(":", "-"));
    if (entry === undefined) return join(folder, folderName(tenant), folderName(name), version);
    if (!ENTRY.test(entry)) throw new Error(`\`${entry}\` is not the name of a skill's folder.`);
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

/** Through a folder of one's own: what comes from elsewhere is hashed before it bears the name of a content. */
async function fetchInto(
  snapshots: ContentParts["snapshots"],
  { tenant, name, digest, snapshot }: StoredContent,
  room: string,
  path: string,
): Promise<Result<string>> {
  if (snapshot === undefined)
    return refuseContent(name, digest, "it is not on this machine, and nowhere else");
  try {
    const restored = join(room, "content");
    await snapshots.restore(snapshot, restored, { tenant });
    const found = digestOf(restored);
    if (found !== digest) return refuseContent(name, digest, `what is stored is ${found}`);
    moveInto(restored, path, digest);
    return done(path);
  } catch (fault) {
    if (!(fault instanceof DamagedSnapshotError)) throw fault; // The store cannot be reached: the next one tries again.
    return refuseContent(name, digest, sayFault(fault).replace(/\.$/, ""));
  }
}

/** The identity before and after it was read is the same, so what was read is that content. */
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
    return refuseContent(name, digest, "its files were changed while they were read");
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

/** What is there under that name and is not that content goes; the same content may have come from elsewhere meanwhile. */
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
    message: `The content ${digest} of the skill \`${name}\` cannot be used: ${why}.`,
    hint: "Upload or publish that version again, or start a new run with another one.",
  });
}
