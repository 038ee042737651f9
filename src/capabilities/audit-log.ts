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
import { withLock } from "../trust/lock-file.ts";
import type { AuditLog } from "./broker-parts.ts";

export interface AuditLogOptions {
  /** `…/audit.jsonl` */
  readonly file: string;
  /** Default: 10 MB. */
  readonly maxBytes?: number;
}

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
/** Beside the one that is written. */
const MOST_OLD_FILES = 20;

export function openAuditLog({ file, maxBytes = DEFAULT_MAX_BYTES }: AuditLogOptions): AuditLog {
  return {
    write(entry) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      const size = append(
        file,
        `${JSON.stringify(entry)}\n`,
        entry.mutating === true || entry.outcome === "started",
      );
      if (size >= maxBytes) rotate(file, maxBytes);
    },
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

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "ENOENT") throw fault;
  }
}
