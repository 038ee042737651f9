/**
 * The lock files on disk. Replacing one is the only moment at which something becomes installed, updated or removed:
 * every change reads the file anew under a lock of its own and replaces it whole. A lock that cannot be used is never
 * overwritten.
 */
import { lstatSync, mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { MetierError } from "../foundation/errors.ts";
import { isOwnFolder } from "../host/project-folders.ts";
import { readBounded } from "../host/read-bounded.ts";
import { removeLeftovers, replaceFile } from "../host/write-atomic.ts";
import { withLock } from "../trust/lock-file.ts";
import { EMPTY_LOCK, type Lock } from "./lock-entry.ts";
import { LOCK_LIMITS, parseLock, renderLock } from "./lock-file-format.ts";
import type { LockFile } from "./lock-places.ts";

export type LockOutcome =
  | { readonly ok: true; readonly lock: Lock }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

/** A file that is missing is an empty lock. */
export function readLock(file: LockFile): LockOutcome {
  const text = readText(file);
  return typeof text === "string" ? parse(file, text) : text;
}

/**
 * Replaces the lock by what `change` makes of it, if that differs; a lock that lists nothing is no file. Answers with the lock as it is then. Throws only what
 * the system throws, and for a lock that could not be read back.
 */
export function changeLock(file: LockFile, change: (lock: Lock) => Lock): LockOutcome {
  mkdirSync(dirname(file.path), { recursive: true, mode: 0o700 });
  return withLock(file.path, (isHeld) => {
    removeLeftovers(file.path);
    const before = readText(file);
    if (typeof before !== "string") return before;
    const read = parse(file, before);
    if (!read.ok) return read;
    const lock = change(read.lock);
    if (lock === read.lock) return read;
    if (lock.skills.length === 0) {
      if (!isHeld()) throw lockLost(file);
      rmSync(file.path, { force: true });
      return { ok: true, lock };
    }
    const after = renderLock(lock);
    if (after === before) return read;
    const written = parseLock(after, file.owner);
    if (!written.ok)
      throw new MetierError("internal.fault", `The new lock would be unusable: ${written.message}`);
    // For a project others must be able to read it, as they do after a checkout.
    const mode = file.owner === "project" ? 0o644 : 0o600;
    if (!replaceFile(file.path, after, { mode, onlyIf: isHeld })) throw lockLost(file);
    return written;
  });
}

/** `""` for a missing file. A link is not followed: a project must not choose which file is read, or written. */
function readText(file: LockFile): string | (LockOutcome & { readonly ok: false }) {
  const stats = lstatSync(file.path, { throwIfNoEntry: false });
  if (stats === undefined) return "";
  if (!stats.isFile()) {
    const what = stats.isSymbolicLink() ? "a link" : "not a regular file";
    return unusable(file, `It is ${what}; a lock is a file in its place.`, "Put the file itself there.");
  }
  if (file.owner === "project" && !isOwnFolder(file.path)) return foreign(file);
  const read = readBounded(file.path, LOCK_LIMITS.bytes);
  if (!read.ok) return unusable(file, read.message, "Make it a readable file of that size, or delete it.");
  if (read.notUtf8) return unusable(file, "It is not UTF-8.", "Save it as UTF-8, or take it from a backup.");
  return read.text;
}

/** A project's lock comes with the project; one that somebody else put there does not speak for it. */
function foreign({ path }: LockFile): LockOutcome & { readonly ok: false } {
  const message = `\`${path}\` belongs to another user, so nothing of it counts as installed.`;
  const hint = "Make the file your own if you want what it records.";
  return { ok: false, diagnostic: { code: "lock.foreign-owner", severity: "warning", path, message, hint } };
}

function parse(file: LockFile, text: string): LockOutcome {
  if (text.trim() === "") return { ok: true, lock: EMPTY_LOCK };
  const parsed = parseLock(text, file.owner);
  return parsed.ok ? parsed : unusable(file, parsed.message, parsed.hint, parsed.line);
}

function unusable(
  { path }: LockFile,
  problem: string,
  hint: string,
  line?: number,
): LockOutcome & { readonly ok: false } {
  const message = `The lock is not used, so nothing of it counts as installed. ${problem}`;
  const code = "lock.unusable";
  const diagnostic: Diagnostic = { code, severity: "error", path, message, hint };
  return { ok: false, diagnostic: line === undefined ? diagnostic : { ...diagnostic, line } };
}

function lockLost({ path }: LockFile): MetierError {
  const message = `Another process took over \`${path}\` meanwhile; nothing was changed.`;
  return new MetierError("internal.fault", message, { hint: "Run the command again." });
}
