/**
 * Who did what with capabilities, when, and how it ended: `audit.jsonl`, one line each, without inputs, outputs and secrets.
 * Several processes append to it; a full one is put aside as `audit.1.jsonl`, and the oldest of those goes.
 */
import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { presentFields } from "@metier/base/json";
import { withLock } from "@metier/base/turns";
import { forgetInFiles, readLines } from "./audit-files.ts";
import type { CapabilityCaller } from "./capability.ts";
import type { AuditEntry } from "./capability-broker.ts";

export interface AuditLog {
  /**
   * Written before it returns, and flushed for what changes something. Throws when it cannot be: what is not recorded is
   * not done.
   */
  write(entry: AuditEntry): void;
  /** All that there are, in no order. */
  each(visit: (entry: AuditEntry) => void): void;
  /** Their lines stay, and lead to nobody. */
  forget(isMeant: (user: string) => boolean): void;
}

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
/** Beside the one that is written. */
const MOST_OLD_FILES = 20;

/** `file`: `…/audit.jsonl` */
export function openAuditLog({
  file,
  maxBytes = DEFAULT_MAX_BYTES,
}: {
  readonly file: string;
  readonly maxBytes?: number | undefined;
}): AuditLog {
  return {
    write(entry) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const isChange = entry.mutating === true || entry.outcome === "started";
      const size = append(file, `${JSON.stringify(entry)}\n`, isChange);
      if (size >= maxBytes) rotate(file, maxBytes);
    },
    each(visit) {
      for (const each of allFiles(file)) for (const { entry } of readLines(each)) visit(entry);
    },
    forget: (isMeant) => forgetInFiles(file, allFiles(file), isMeant),
  };
}

/** How large the file is then. Opened anew each time: another process may have put the last one aside. */
function append(file: string, line: string, flush: boolean): number {
  const descriptor = openSync(file, "a", 0o600);
  try {
    const bytes = Buffer.from(line);
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    if (flush) fsyncSync(descriptor);
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
}

function rotate(file: string, maxBytes: number): void {
  withLock(file, () => {
    const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < maxBytes) return; // Another process was quicker.
    for (let number = MOST_OLD_FILES - 1; number > 0; number--) {
      moveIfThere(oldFile(file, number), oldFile(file, number + 1));
    }
    renameSync(file, oldFile(file, 1));
  });
}

function oldFile(file: string, number: number): string {
  return file.replace(/\.jsonl$/, `.${number}.jsonl`);
}

/** The one that is written first, then the newest; whether or not they are there. */
function allFiles(file: string): readonly string[] {
  const old = Array.from({ length: MOST_OLD_FILES }, (_, index) => oldFile(file, index + 1));
  return [file, ...old];
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "ENOENT") throw fault;
  }
}

/** What turns out while a call is checked. */
type KnownOfCall = Partial<
  Pick<AuditEntry, "capability" | "operation" | "account" | "mutating" | "inputDigest" | "idempotencyKey">
>;

/** The lines of one call: what is known of it when it ends, however early that is. */
export interface CallAudit {
  know(known: { readonly [Name in keyof KnownOfCall]?: KnownOfCall[Name] | undefined }): void;
  /** Throws when the log cannot be written. */
  write(outcome: string): void;
}

export function auditCall(
  log: AuditLog,
  caller: CapabilityCaller,
  call: Pick<AuditEntry, "requestId" | "action" | "capability">,
  now: () => number,
  onAudit?: (entry: AuditEntry) => void,
): CallAudit {
  const beganAt = now();
  let known: KnownOfCall = {};
  return {
    know(more) {
      known = { ...known, ...presentFields(more) };
    },
    write(outcome) {
      const { userId, chatId, runId, skill } = caller;
      const time = now();
      const entry: AuditEntry = presentFields({
        at: new Date(time).toISOString(),
        ...call,
        user: userId,
        chatId,
        runId,
        skill,
        ...known,
        outcome,
        durationMs: Math.max(0, Math.round(time - beganAt)),
      });
      log.write(entry);
      try {
        onAudit?.(entry);
      } catch {
        // It is recorded; who only listens does not stop a call.
      }
    },
  };
}
