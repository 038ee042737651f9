/**
 * Reads the log of a run: whole, or only its first and last line, which is what a list of many runs needs. Failures are
 * values; a log that was cut off is read up to there.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { readBounded } from "../host/read-bounded.ts";
import { type EventLines, parseEvent, parseEventLines } from "./parse-event.ts";
import type { RunEvent } from "./run-event.ts";

const MOST_BYTES = 256 * 1024 * 1024;
/** Of one line that is read alone. */
const MOST_LINE_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export type LogReading =
  | ({ readonly ok: true } & EventLines)
  | { readonly ok: false; readonly message: string };

export function readRunLog(file: string): LogReading {
  const read = readBounded(file, MOST_BYTES);
  return read.ok ? { ok: true, ...parseEventLines(read.text) } : { ok: false, message: read.message };
}

export interface LogEnds {
  readonly first?: RunEvent;
  /** Of those that are known: the last whole line, when it is an event. */
  readonly last?: RunEvent;
}

/** `undefined` when the file cannot be read. */
export function readLogEnds(file: string): LogEnds | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, "r");
    const { size } = fstatSync(descriptor);
    const first = parseLine(firstLine(descriptor, size));
    const last = parseLine(lastLine(descriptor, size));
    return { ...(first && { first }), ...(last && { last }) };
  } catch {
    return undefined; // The caller says that it is unreadable.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function parseLine(line: string): RunEvent | undefined {
  const event = parseEvent(line);
  return typeof event === "object" ? event : undefined;
}

function firstLine(descriptor: number, size: number): string {
  for (let length = BLOCK_BYTES; ; length *= 4) {
    const bytes = readPart(descriptor, 0, Math.min(length, size));
    const end = bytes.indexOf(NEWLINE);
    if (end !== -1) return bytes.toString("utf8", 0, end);
    if (length >= size || length >= MOST_LINE_BYTES) return "";
  }
}

function lastLine(descriptor: number, size: number): string {
  for (let length = BLOCK_BYTES; ; length *= 4) {
    const bytes = readPart(descriptor, Math.max(0, size - length), size);
    const end = bytes.lastIndexOf(NEWLINE);
    const start = end > 0 ? bytes.lastIndexOf(NEWLINE, end - 1) : -1;
    if (end !== -1 && (start !== -1 || length >= size)) return bytes.toString("utf8", start + 1, end);
    if (length >= size || length >= MOST_LINE_BYTES) return "";
  }
}

function readPart(descriptor: number, from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from);
  return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, from));
}
