/**
 * The store: an installed skill's folder as fetched, complete and never changed. One rename adds a folder, so a killed
 * process leaves all of it or nothing; leftovers have names that no skill has.
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { MetierError } from "@metier/base/errors";
import { flushFolder, readBounded, removeFolder, replaceFile } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { forReader, randomMark } from "@metier/base/text";
import { withLock } from "@metier/base/turns";
import { type ContentIdentity, identifyFolder } from "../trust/content-identity.ts";
import { rememberFiles } from "./file-lists.ts";
import { type LockFile, projectLockFile, storeFolder, userLockFile } from "./lock.ts";

interface StoredSkill {
  readonly name: string;
  /** The expected content. */
  readonly digest: string;
}

interface StoreRequest extends StoredSkill {
  /** The lock that will record it: what no known lock records is garbage. */
  readonly lock: LockFile;
}

interface IncomingSkill extends StoredSkill {
  /** Complete and owned by the caller; removed afterwards. */
  readonly folder: string;
}

interface PlacedInStore {
  readonly folder: string;
  /** Where a folder of that name with other content was moved; removed with the garbage. */
  readonly aside?: string;
}

type StorePlaces = Pick<Places, "store" | "state">;

/** Nobody changes a store folder this often. */
const MAX_ATTEMPTS = 20;

/** Moves `folder`, which is complete and owned by the caller, into the store. */
export function placeInStore(
  places: StorePlaces,
  folder: string,
  { name, digest, lock }: StoreRequest,
): Result<PlacedInStore, Diagnostic> {
  const placed = placeAllInStore(places, [{ folder, name, digest }], lock);
  if (!placed.ok) return placed;
  const [only] = placed.value;
  return done(only ?? { folder: storeFolder(places, { name, digest }) });
}

/** All of them, or none if one has the wrong content: in one turn at the store, which others wait for. */
export function placeAllInStore(
  places: StorePlaces,
  skills: readonly IncomingSkill[],
  lock: LockFile,
): Result<readonly PlacedInStore[], Diagnostic> {
  const { store } = places;
  mkdirSync(store, { recursive: true, mode: 0o700 });
  rememberLock(places, lock);
  const moves: StoreMove[] = [];
  const lists: ContentIdentity[] = [];
  try {
    for (const skill of skills) {
      const incoming = bringIn(store, skill.folder);
      moves.push({ incoming, target: storeFolder(places, skill), digest: skill.digest });
    }
    for (const { incoming, digest } of moves) {
      const identified = identifyOpened(incoming);
      const difference = differenceOf(identified, incoming, digest);
      if (difference) return refused(difference);
      if (identified.ok) lists.push(identified.value);
    }
    rememberFiles(places, lists);
    const first = changeStore(store, () =>
      moves.map((move) => exchange(move.incoming, move.target, undefined)),
    );
    // If something is already there, it is checked outside the turn.
    return done(moves.map((move, index) => first[index] ?? settle(store, move)));
  } finally {
    for (const { incoming } of moves) if (existsSync(incoming)) removeFolder(incoming);
  }
}

/** A folder that its owner may move need not be one that they may read. */
function identifyOpened(folder: string): Result<ContentIdentity, Diagnostic> {
  const identified = identifyFolder(folder);
  return identified.ok || !openToOwner(folder) ? identified : identifyFolder(folder);
}

/** Whether the store folder has the content its name says: hashed again. `undefined` if it does. */
export function findDifference(folder: string, digest: string): Diagnostic | undefined {
  return differenceOf(identifyFolder(folder), folder, digest);
}

function differenceOf(
  identified: Result<ContentIdentity, Diagnostic>,
  folder: string,
  digest: string,
): Diagnostic | undefined {
  if (!identified.ok) return identified.refusal;
  if (identified.value.digest === digest) return undefined;
  return {
    code: "lock.changed-content",
    severity: "error",
    path: folder,
    message: `\`${folder}\` has the content \`${identified.value.digest}\`, not \`${digest}\`.`,
    hint: forReader({
      command: "Restore it with `metier install`; see the differences with `metier verify`.",
      program: "Restore it with `install()`; see the differences with `verify()`.",
    }),
  };
}

/** Into the store's own folder, under a name that no skill has: from there a rename is atomic on any machine. */
function bringIn(store: string, folder: string): string {
  const incoming = join(store, `.incoming-${randomMark()}`);
  try {
    renameOpened(folder, incoming);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    cpSync(folder, incoming, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    removeFolder(folder);
  }
  return incoming;
}

/** A folder that is closed to its owner cannot be moved before it is opened. */
function renameOpened(folder: string, to: string): void {
  try {
    renameSync(folder, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES" || !openToOwner(folder)) throw error;
    renameSync(folder, to);
  }
}

const FOR_OWNER = 0o700;

/** Whether it was closed. */
function openToOwner(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory() || (stats.mode & FOR_OWNER) === FOR_OWNER) return false;
  chmodSync(folder, FOR_OWNER);
  return true;
}

/** Hashing is slow, so it happens outside the lock; what was hashed is recognized inside it. */
function settle(store: string, { incoming, target, digest }: StoreMove): PlacedInStore {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const judged = judge(target, digest);
    const placed = changeStore(store, () => exchange(incoming, target, judged));
    if (placed) return placed;
  }
  throw new MetierError("internal.fault", `\`${target}\` keeps changing; nothing was installed.`, {
    hint: "If no other Metier is running, find out what writes there.",
  });
}

interface StoreMove {
  readonly incoming: string;
  readonly target: string;
  readonly digest: string;
}

interface Judgement {
  readonly stats: Stats;
  readonly isRight: boolean;
}

function judge(target: string, digest: string): Judgement | undefined {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats && { stats, isRight: stats.isDirectory() && findDifference(target, digest) === undefined };
}

/** `undefined`: something unchecked is there. */
function exchange(
  incoming: string,
  target: string,
  judged: Judgement | undefined,
): PlacedInStore | undefined {
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined) {
    moveIn(incoming, target);
    return { folder: target };
  }
  if (there.ino !== judged?.stats.ino || there.dev !== judged.stats.dev) return undefined;
  if (judged.isRight) {
    touch(target);
    return { folder: target };
  }
  const aside = join(target, "..", `.aside-${randomMark()}`);
  renameSync(target, aside);
  moveIn(incoming, target);
  return { folder: target, aside };
}

function moveIn(incoming: string, target: string): void {
  touch(incoming);
  renameSync(incoming, target);
}

/** Its age counts from its last placing: a lock may be about to record it. On some file systems, a rename is no change. */
function touch(folder: string): void {
  const now = new Date();
  utimesSync(folder, now, now);
}

/** Only one process at a time adds and removes folders. */
export function changeStore<T>(store: string, change: () => T): T {
  return withLock(join(store, ".store"), change);
}

/** Makes what was placed survive a power cut; call it once before a lock records it. */
export function flushStore({ store }: Pick<Places, "store">): void {
  flushFolder(store);
}

const MAX_PATH_BYTES = 8_192;

// What is stored about the store, in `<home>/.metier/state`: the locks on this machine, and (in `file-lists.ts`) the
// files of each content. What no known lock records is garbage.

/** One small file per project, named after its path. The user's lock is always known. */
export function rememberLock({ state }: Pick<Places, "state">, { path, owner }: LockFile): void {
  if (owner === "user") return;
  const folder = join(state, "locks");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, digestBytes(path).slice("sha256:".length));
  if (!existsSync(file)) replaceFile(file, dirname(path), { flush: false });
}

/** Those whose files exist; a removed project is forgotten. */
export function knownLocks(places: Pick<Places, "state" | "lockFile">): readonly LockFile[] {
  const folder = join(places.state, "locks");
  const projects = listNames(folder).flatMap((name) => {
    const read = readBounded(join(folder, name), MAX_PATH_BYTES);
    if (!read.ok || !isAbsolute(read.text)) return [];
    const lock = projectLockFile(read.text);
    if (existsSync(lock.path)) return [lock];
    rmSync(join(folder, basename(name)), { force: true });
    return [];
  });
  return [userLockFile(places), ...projects];
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[0-9a-f]{64}$/.test(name));
  } catch {
    return []; // Nothing was installed for a project yet.
  }
}
