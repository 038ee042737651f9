/**
 * Whole lines of an open file, from any line on, however large the file is: it is gone through piece by piece, and only
 * what is asked for is kept. A line ends behind its `\n`; put together, ranges are the file.
 */
import { readSync } from "node:fs";

export interface LineRange {
  /** The first line, from 1. */
  readonly from: number;
  readonly maxLines: number;
  /** Lines that do not fit are left for the next range; a first line that does not fit is cut. */
  readonly maxBytes: number;
}

export interface LinesRead {
  readonly bytes: Buffer;
  /** Lines that `bytes` holds, also a cut one. */
  readonly lines: number;
  /** The one line that there is was longer than `maxBytes`. */
  readonly isLineCut: boolean;
  /** The file ends behind these lines. */
  readonly isEnd: boolean;
  /** Lines before `from` that there are; fewer than `from - 1` when the file is shorter. */
  readonly skipped: number;
}

const PIECE = 65_536;
const NEW_LINE = 0x0a;

export function readLines(descriptor: number, { from, maxLines, maxBytes }: LineRange): LinesRead {
  const { position, skipped } = findLine(descriptor, from);
  const bytes = readFrom(descriptor, position, maxBytes + 1);
  const { end, lines } = takeLines(bytes, maxLines, maxBytes);
  if (lines === 0 && bytes.length > maxBytes) {
    const after = findLine(descriptor, 2, position + maxBytes);
    const isEnd = after.skipped === 0 || readFrom(descriptor, after.position, 1).length === 0;
    return { bytes: bytes.subarray(0, maxBytes), lines: 1, isLineCut: true, isEnd, skipped };
  }
  return { bytes: bytes.subarray(0, end), lines, isLineCut: false, isEnd: end === bytes.length, skipped };
}

/** Where line `line` begins, counted from `start`; the end of the file when there are fewer. */
function findLine(descriptor: number, line: number, start = 0): { position: number; skipped: number } {
  let position = start;
  let skipped = 0;
  while (skipped < line - 1) {
    const piece = readFrom(descriptor, position, PIECE);
    if (piece.length === 0) break;
    let at = 0;
    while (skipped < line - 1) {
      const end = piece.indexOf(NEW_LINE, at);
      if (end === -1) {
        at = piece.length;
        break;
      }
      at = end + 1;
      skipped++;
    }
    position += at;
  }
  return { position, skipped };
}

/** How far the first lines go that fit both limits. */
function takeLines(bytes: Buffer, maxLines: number, maxBytes: number): { end: number; lines: number } {
  let end = 0;
  let lines = 0;
  while (lines < maxLines && end < bytes.length) {
    const found = bytes.indexOf(NEW_LINE, end);
    const next = found === -1 ? bytes.length : found + 1;
    if (next > maxBytes) break;
    end = next;
    lines++;
  }
  return { end, lines };
}

/** Fewer bytes only at the end of the file. */
export function readFrom(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let size = 0;
  while (size < length) {
    const read = readSync(descriptor, bytes, size, length - size, position + size);
    if (read === 0) break;
    size += read;
  }
  return bytes.subarray(0, size);
}
