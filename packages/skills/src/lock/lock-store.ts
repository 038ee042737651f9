/**
 * The lock files on disk. Only replacing one installs, updates or removes something: every change reads the file again
 * under its own mutex and replaces it as a whole. An unusable lock is never overwritten. Also removes from the store
 * what no lock records anymore.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { MetierError } from "@metier/base/errors";
import { readBounded, removeFolder, removeLeftovers, replaceFile } from "@metier/base/files";
import { isOwnFolder, type Places } from "@metier/base/places";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import { randomMark } from "@metier/base/text";
import { withLock } from "@metier/base/turns";
import { forgetFiles } from "./file-lists.ts";
import { EMPTY_LOCK, type Lock, type LockEntry, type LockFile, storeFolder } from "./lock.ts";
import { LOCK_LIMITS, parseLock, renderLock } from "./lock-file-format.ts";
import { changeStore, knownLocks } from "./store.ts";

/** A missing file is an empty lock. */
export function readLock(file: LockFile): Result<Lock, Diagnostic> {
  const text = readText(file);
  return text.ok ? parse(file, text.value) : text;
}

/**
 * Replaces the lock with the result of `change`, if that differs; an empty lock has no file. Returns the resulting
 * lock. Throws only system errors, and for a lock that could not be read back.
 */
export function changeLock(file: LockFile, change: (lock: Lock) => Lock): Result<Lock, Diagnostic> {
  mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
  return withLock(file.path, (isHeld) => {
    removeLeftovers(file.path);
    const before = readText(file);
    if (!before.ok) return before;
    const read = parse(file, before.value);
    if (!read.ok) return read;
    const lock = change(read.value);
    if (lock === read.value) return read;
    if (lock.skills.length === 0) {
      if (!isHeld()) throw lockLost(file);
      rmSync(file.path, { force: true });
      return done(lock);
    }
    const after = renderLock(lock);
    if (after === before.value) return read;
    const written = parseLock(after, file.owner);
    if (!written.ok)
      throw new MetierError("internal.fault", `The new lock would not be valid: ${written.refusal.message}`);
    // Others must be able to read a project's lock, as after a checkout.
    const mode = file.owner === "project" ? 0o644 : 0o600;
    if (!replaceFile(file.path, after, { mode, onlyIf: isHeld })) throw lockLost(file);
    return written;
  });
}

/** `""` for a missing file. Does not follow a link: a project must not choose which file is read or written. */
function readText(file: LockFile): Result<string, Diagnostic> {
  const stats = lstatSync(file.path, { throwIfNoEntry: false });
  if (stats === undefined) return done("");
  if (!stats.isFile()) {
    const what = stats.isSymbolicLink() ? "a link" : "not a regular file";
    return unusable(file, `It is ${what}; a lock must be a regular file.`, "Put the file itself there.");
  }
  if (file.owner === "project" && !isOwnFolder(file.path)) return foreign(file);
  const read = readBounded(file.path, LOCK_LIMITS.bytes);
  if (!read.ok) return unusable(file, read.message, "Make it a readable file of that size, or delete it.");
  if (read.notUtf8) return unusable(file, "It is not UTF-8.", "Save it as UTF-8, or take it from a backup.");
  return done(read.text);
}

/** A project's lock comes with the project; one that somebody else put there does not count. */
function foreign({ path }: LockFile): Refused<Diagnostic> {
  const message = `\`${path}\` belongs to another user, so its skills do not count as installed.`;
  const hint = "Take ownership of the file if you want the skills it records.";
  return refused({ code: "lock.foreign-owner", severity: "warning", path, message, hint });
}

function parse(file: LockFile, text: string): Result<Lock, Diagnostic> {
  if (text.trim() === "") return done(EMPTY_LOCK);
  const parsed = parseLock(text, file.owner);
  if (parsed.ok) return parsed;
  const { message, hint, line } = parsed.refusal;
  return unusable(file, message, hint, line);
}

function unusable({ path }: LockFile, problem: string, hint: string, line?: number): Refused<Diagnostic> {
  const message = `The lock is ignored, so its skills do not count as installed. ${problem}`;
  return refused({ code: "lock.unusable", severity: "error", path, message, hint, line });
}

function lockLost({ path }: LockFile): MetierError {
  const message = `Another process took over \`${path}\`; nothing was changed.`;
  return new MetierError("internal.fault", message, { hint: "Run the command again." });
}

interface CollectedGarbage {
  /** Removed folders of the store. */
  readonly removed: readonly string[];
  /** Unreadable locks: their content is unknown, so nothing was removed. */
  readonly diagnostics: readonly Diagnostic[];
}

type StorePlaces = Pick<Places, "store" | "state" | "lockFile">;

/** What is being installed is not recorded yet. */
export const GARBAGE_AGE_MS: number = 60 * 60 * 1000;

/**
 * Removes from the store what no lock records anymore, and leftovers. Checks `locks` in addition to the known ones.
 * Recent folders stay: a lock may be about to record them.
 */
export function collectGarbage(
  places: StorePlaces,
  locks: readonly LockFile[] = [],
  olderThanMs: number = GARBAGE_AGE_MS,
): CollectedGarbage {
  const { store } = places;
  if (lstatSync(store, { throwIfNoEntry: false }) === undefined) return { removed: [], diagnostics: [] };
  const trash: string[] = [];
  const outcome = changeStore(store, (): CollectedGarbage => {
    const read = recordedVersions([...locks, ...knownLocks(places)]);
    if (!read.ok) return { removed: [], diagnostics: read.refusal };
    const recorded = new Set(read.value.map((version) => basename(storeFolder(places, version))));
    forgetFiles(places, new Set(read.value.map(({ digest }) => digest)), olderThanMs);
    const removed = readdirSync(store)
      .filter((name) => !recorded.has(name) && isOlderThan(join(store, name), olderThanMs))
      .map((name) => {
        const away = join(store, `.trash-${randomMark()}`);
        renameSync(join(store, name), away);
        trash.push(away);
        return join(store, name);
      });
    return { removed: removed.filter((path) => !basename(path).startsWith(".")), diagnostics: [] };
  });
  for (const folder of trash) removeFolder(folder);
  return outcome;
}

type Version = Pick<LockEntry, "name" | "digest">;

function recordedVersions(locks: readonly LockFile[]): Result<readonly Version[], readonly Diagnostic[]> {
  const readings = locks.map(readLock);
  const faults = readings.flatMap((read) => (read.ok ? [] : [read.refusal]));
  if (faults.length > 0) return refused(faults);
  const entries = readings.flatMap((read) => (read.ok ? read.value.skills : []));
  const versions = entries.flatMap(({ name, digest, previous }) => [
    { name, digest },
    ...(previous ? [{ name, digest: previous.digest }] : []),
  ]);
  return done(versions);
}

/** Other files in the store are mutexes of its writers. */
const HALF_WAY = /^\.(?:incoming|aside|trash)-/;

function isOlderThan(path: string, ageMs: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats || !(stats.isDirectory() || HALF_WAY.test(basename(path)))) return false;
  return Date.now() - Math.max(stats.mtimeMs, stats.ctimeMs) >= ageMs;
}
