/**
 * Records who did what with capabilities, when, and how it ended, in `audit.jsonl`: one line each, without inputs,
 * outputs or secrets. Several processes append to it; a full file is rotated to `audit.1.jsonl`, and the oldest is
 * deleted.
 */
import { lstatSync, renameSync } from "node:fs";
import { presentFields } from "@metier/base/json";
import { withLock } from "@metier/base/turns";
import { forgetInFiles, readLines } from "./audit-files.ts";
import { createLineWriter } from "./audit-writer.ts";
import type { CapabilityCaller } from "./capability.ts";
import type { AuditEntry } from "./capability-broker.ts";

export interface AuditLog {
  /**
   * Resolves when the line is written, and flushed if it records a change. Rejects if that fails: what cannot be
   * recorded is not done.
   */
  write(entry: AuditEntry): Promise<void>;
  /** All entries, in no particular order. */
  each(visit: (entry: AuditEntry) => void): void;
  /** Keeps their lines, without a link to the users. */
  forget(isMeant: (user: string) => boolean): void;
}

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
/** In addition to the current file. */
const MOST_OLD_FILES = 20;

/** `file`: `…/audit.jsonl` */
export function openAuditLog({
  file,
  maxBytes = DEFAULT_MAX_BYTES,
}: {
  readonly file: string;
  readonly maxBytes?: number | undefined;
}): AuditLog {
  const writer = createLineWriter(file, (bytes) => {
    if (bytes < maxBytes) return false;
    rotate(file, maxBytes);
    return true;
  });
  return {
    write(entry) {
      const isChange = entry.mutating === true || entry.outcome === "started";
      return writer.append(`${JSON.stringify(entry)}\n`, isChange);
    },
    each(visit) {
      for (const each of allFiles(file)) for (const { entry } of readLines(each)) visit(entry);
    },
    forget: (isMeant) => forgetInFiles(file, allFiles(file), isMeant),
  };
}

function rotate(file: string, maxBytes: number): void {
  withLock(file, () => {
    const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size < maxBytes) return; // Another process was faster.
    for (let number = MOST_OLD_FILES - 1; number > 0; number--) {
      moveIfThere(oldFile(file, number), oldFile(file, number + 1));
    }
    renameSync(file, oldFile(file, 1));
  });
}

function oldFile(file: string, number: number): string {
  return file.replace(/\.jsonl$/, `.${number}.jsonl`);
}

/** The current file first, then the newest; they may not exist. */
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

/** Facts that become known while a call is checked. */
type KnownOfCall = Partial<
  Pick<AuditEntry, "capability" | "operation" | "account" | "mutating" | "inputDigest" | "idempotencyKey">
>;

/** The lines of one call, with what is known when it ends, however early. */
export interface CallAudit {
  know(known: { readonly [Name in keyof KnownOfCall]?: KnownOfCall[Name] | undefined }): void;
  /** Resolves when it is recorded. Rejects if the log cannot be written. */
  write(outcome: string): Promise<void>;
}

export function auditCall(
  log: AuditLog,
  caller: CapabilityCaller,
  call: Pick<AuditEntry, "requestId" | "action" | "capability">,
  now: () => number,
  onAudit?: (entry: AuditEntry) => void,
): CallAudit {
  const beganAt = now();
  const known: KnownOfCall = {};
  return {
    know: (more) => void Object.assign(known, presentFields(more)),
    async write(outcome) {
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
      await log.write(entry);
      try {
        onAudit?.(entry);
      } catch {
        // It is already recorded; a failing listener does not stop the call.
      }
    },
  };
}
