/** The audit log's files read as a whole, and lines of them written anew for users who are forgotten. */
import { randomBytes } from "node:crypto";
import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { withLock } from "@metier/base/turns";
import type { AuditEntry } from "./capability-broker.ts";

interface FoundLine {
  readonly entry: AuditEntry;
  /** In bytes, without the line break. */
  readonly start: number;
  readonly length: number;
}

/** What is no line of the log, such as one that was cut off, is left out. */
export function* readLines(file: string): Generator<FoundLine> {
  const bytes = readIfThere(file);
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf("\n", start);
    const end = found === -1 ? bytes.length : found;
    const entry = readEntry(bytes.toString("utf8", start, end));
    if (entry) yield { entry, start, length: end - start };
    start = end + 1;
  }
}

/**
 * Each line keeps its length and its place, since other processes append at the same time; under the lock that a file is put
 * aside with, so that it keeps its name meanwhile. A user has one pseudonym in all files; which, is written nowhere.
 */
export function forgetInFiles(
  log: string,
  files: readonly string[],
  isMeant: (user: string) => boolean,
): void {
  const pseudonyms = new Map<string, string>();
  const pseudonymOf = (user: string): string => {
    const pseudonym = pseudonyms.get(user) ?? `p_${randomBytes(PSEUDONYM_BYTES).toString("hex")}`;
    pseudonyms.set(user, pseudonym);
    return pseudonym;
  };
  // The newest first: one that is put aside meanwhile is met again under its next name, and none is missed.
  for (const file of files) {
    if (!existsSync(file)) continue;
    withLock(log, () => {
      for (const { entry, start, length } of [...readLines(file)]) {
        if (isMeant(entry.user)) overwrite(file, start, fitTo(length, entry, pseudonymOf(entry.user)));
      }
    });
  }
}

/** With `p_` no longer than what a line loses at least, so that it always fits. */
const PSEUDONYM_BYTES = 6;

/** What is left says that something was done, when and how it ended; not by whom, where, with whose account or with what. */
function fitTo(length: number, entry: AuditEntry, pseudonym: string): Buffer {
  const { at, requestId, action, runId, skill, capability, operation, mutating, outcome } = entry;
  const kept = {
    at,
    requestId,
    action,
    user: pseudonym,
    runId,
    skill,
    capability,
    operation,
    mutating,
    outcome,
  };
  const line = Buffer.from(JSON.stringify(kept));
  const fitting = line.length <= length ? line : Buffer.from("{}");
  return Buffer.concat([fitting, Buffer.alloc(length - fitting.length, " ")]);
}

function overwrite(file: string, start: number, bytes: Buffer): void {
  const descriptor = openSync(file, "r+");
  try {
    for (let at = 0; at < bytes.length; )
      at += writeSync(descriptor, bytes, at, bytes.length - at, start + at);
  } finally {
    closeSync(descriptor);
  }
}

function readEntry(line: string): AuditEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<AuditEntry> | null;
    const isEntry = typeof entry?.user === "string" && typeof entry.capability === "string";
    return isEntry ? (entry as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw fault;
  }
}
