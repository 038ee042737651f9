/** Takes out of the store what no lock records any more, and what was left half-way. */
import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Places } from "../host/places.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { forgetFiles } from "./file-lists.ts";
import { knownLocks } from "./known-locks.ts";
import { type LockFile, storeFolder } from "./lock-places.ts";
import { readLock } from "./lock-store.ts";
import { changeStore } from "./store.ts";

export interface GarbageOutcome {
  /** Folders of the store that are gone. */
  readonly removed: readonly string[];
  /** Locks that cannot be read: what they record is not known, so nothing was removed. */
  readonly diagnostics: readonly Diagnostic[];
}

type StorePlaces = Pick<Places, "store" | "state" | "lockFile">;

/** What is being installed is not recorded yet. */
export const GARBAGE_AGE_MS: number = 60 * 60 * 1000;

/** `locks` are looked at beside the known ones. Younger folders stay: a lock may be about to record them. */
export function collectGarbage(
  places: StorePlaces,
  locks: readonly LockFile[] = [],
  olderThanMs: number = GARBAGE_AGE_MS,
): GarbageOutcome {
  const { store } = places;
  if (lstatSync(store, { throwIfNoEntry: false }) === undefined) return { removed: [], diagnostics: [] };
  const trash: string[] = [];
  const outcome = changeStore(store, (): GarbageOutcome => {
    const { recorded, digests, faults } = recordedVersions(places, [...locks, ...knownLocks(places)]);
    if (faults.length > 0) return { removed: [], diagnostics: faults };
    forgetFiles(places, digests, olderThanMs);
    const removed = readdirSync(store)
      .filter((name) => !recorded.has(name) && isOlderThan(join(store, name), olderThanMs))
      .map((name) => {
        const away = join(store, `.trash-${randomUUID()}`);
        renameSync(join(store, name), away);
        trash.push(away);
        return join(store, name);
      });
    return { removed: removed.filter((path) => !basename(path).startsWith(".")), diagnostics: [] };
  });
  for (const folder of trash) removeFolder(folder);
  return outcome;
}

interface RecordedVersions {
  /** Names of folders in the store. */
  readonly recorded: ReadonlySet<string>;
  readonly digests: ReadonlySet<string>;
  readonly faults: readonly Diagnostic[];
}

function recordedVersions(places: StorePlaces, locks: readonly LockFile[]): RecordedVersions {
  const outcomes = locks.map(readLock);
  const faults = outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.diagnostic]));
  const entries = outcomes.flatMap((outcome) => (outcome.ok ? outcome.lock.skills : []));
  const versions = entries.flatMap(({ name, digest, previous }) => [
    { name, digest },
    ...(previous ? [{ name, digest: previous.digest }] : []),
  ]);
  return {
    recorded: new Set(versions.map((version) => basename(storeFolder(places, version)))),
    digests: new Set(versions.map(({ digest }) => digest)),
    faults,
  };
}

/** Other files in the store are locks of those who change it. */
const HALF_WAY = /^\.(?:incoming|aside|trash)-/;

function isOlderThan(path: string, ageMs: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || !(stats.isDirectory() || HALF_WAY.test(basename(path)))) return false;
  return Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) >= ageMs;
}
