/**
 * The store: an installed skill's folder as it was fetched, whole and never changed. A folder comes in by one rename, so
 * that whoever is killed leaves it there or not there; what it leaves half-way bears a name that is no skill's.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, cpSync, lstatSync, mkdirSync, renameSync, type Stats, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { MetierError } from "../foundation/errors.ts";
import type { Places } from "../host/places.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { flushFolder } from "../host/write-atomic.ts";
import { type IdentityOutcome, identifyFolder } from "../trust/content-identity.ts";
import { withLock } from "../trust/lock-file.ts";
import { rememberFiles } from "./file-lists.ts";
import { rememberLock } from "./known-locks.ts";
import { type LockFile, storeFolder } from "./lock-places.ts";

export interface StoreRequest {
  readonly name: string;
  /** What the folder must turn out to be. */
  readonly digest: string;
  /** The lock that is going to record it: garbage is what no known lock records. */
  readonly lock: LockFile;
}

export type StoreOutcome =
  | {
      readonly ok: true;
      readonly folder: string;
      /** Where a folder of that name was put whose content was another; removed with the garbage. */
      readonly aside?: string;
    }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

type StorePlaces = Pick<Places, "store" | "state">;

/** Nobody changes a folder of the store this often. */
const MAX_ATTEMPTS = 20;

/** Takes `folder`, which is complete and is nobody else's, into the store; afterwards it is gone. */
export function placeInStore(places: StorePlaces, folder: string, request: StoreRequest): StoreOutcome {
  const { store } = places;
  mkdirSync(store, { recursive: true, mode: 0o700 });
  rememberLock(places, request.lock);
  const incoming = bringIn(store, folder);
  try {
    const target = storeFolder(places, request);
    const outcome = identifyFolder(incoming);
    const fault = differenceOf(outcome, incoming, request.digest);
    if (fault) return { ok: false, diagnostic: fault };
    if (outcome.ok) rememberFiles(places, outcome.identity);
    return settle(store, incoming, target, request.digest);
  } finally {
    removeFolder(incoming);
  }
}

/** Whether the folder in the store is what it is called: hashed anew. `undefined` when it is. */
export function findDifference(folder: string, digest: string): Diagnostic | undefined {
  return differenceOf(identifyFolder(folder), folder, digest);
}

function differenceOf(outcome: IdentityOutcome, folder: string, digest: string): Diagnostic | undefined {
  if (!outcome.ok) return outcome.diagnostic;
  if (outcome.identity.digest === digest) return undefined;
  return {
    code: "lock.changed-content",
    severity: "error",
    path: folder,
    message: `\`${folder}\` has the content \`${outcome.identity.digest}\`, not \`${digest}\`.`,
    hint: "`metier install` restores it, `metier verify` shows what differs.",
  };
}

/** Into the store's own folder, by a name that is no skill's: from there a rename is one step on any machine. */
function bringIn(store: string, folder: string): string {
  const incoming = join(store, `.incoming-${randomUUID()}`);
  chmodSync(folder, 0o700); // A folder that is closed to its owner could not be moved.
  try {
    renameSync(folder, incoming);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    cpSync(folder, incoming, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    removeFolder(folder);
  }
  return incoming;
}

/** Hashing is slow, so it happens outside the lock, and what was hashed is recognised inside of it. */
function settle(store: string, incoming: string, target: string, digest: string): StoreOutcome {
  let judged: Judgement | undefined;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const outcome = changeStore(store, () => exchange(incoming, target, judged));
    if (outcome) return outcome;
    judged = judge(target, digest);
  }
  throw new MetierError("internal.fault", `\`${target}\` keeps changing; nothing was installed.`, {
    hint: "If no other Metier is running, look at what writes there.",
  });
}

interface Judgement {
  readonly stats: Stats;
  readonly isRight: boolean;
}

function judge(target: string, digest: string): Judgement | undefined {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  return stats && { stats, isRight: stats.isDirectory() && findDifference(target, digest) === undefined };
}

/** `undefined`: something stands there that was not judged. */
function exchange(incoming: string, target: string, judged: Judgement | undefined): StoreOutcome | undefined {
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined) {
    moveIn(incoming, target);
    return { ok: true, folder: target };
  }
  if (there.ino !== judged?.stats.ino || there.dev !== judged.stats.dev) return undefined;
  if (judged.isRight) {
    touch(target);
    return { ok: true, folder: target };
  }
  const aside = join(target, "..", `.aside-${randomUUID()}`);
  renameSync(target, aside);
  moveIn(incoming, target);
  return { ok: true, folder: target, aside };
}

function moveIn(incoming: string, target: string): void {
  touch(incoming);
  renameSync(incoming, target);
}

/** Its age is that of its last placing: a lock may be about to record it. */
function touch(folder: string): void {
  const now = new Date();
  utimesSync(folder, now, now);
}

/** One process at a time puts folders in and takes them out. */
export function changeStore<T>(store: string, change: () => T): T {
  return withLock(join(store, ".store"), change);
}

/** What was placed outlasts a power cut; to be called once before a lock says that it is there. */
export function flushStore({ store }: Pick<Places, "store">): void {
  flushFolder(store);
}
