/** Reads the audit log's files as a whole, and rewrites lines of forgotten users. */
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

/** Leaves out anything that is not a log line, such as a truncated one. */
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
 * Each line keeps its length and position, because other processes append at the same time. Holds the rotation lock, so
 * that a file keeps its name. A user has the same pseudonym in all files; the mapping is stored nowhere.
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
  // Newest first: a file rotated in the meantime shows up again under its next name, so none is missed.
  for (const file of files) {
    if (!existsSync(file)) continue;
    withLock(log, () => {
      for (const { entry, start, length } of [...readLines(file)]) {
        if (isMeant(entry.user)) overwrite(file, start, fitTo(length, entry, pseudonymOf(entry.user)));
      }
    });
  }
}

/** With `p_`, never longer than the text a line loses, so that it always fits. */
const PSEUDONYM_BYTES = 6;

/** Keeps that something was done, when and how it ended, but not by whom, where, with whose account or with what. */
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
