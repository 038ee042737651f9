/**
 * `read_file`: a text file, or a range of its lines. The text is returned unchanged, without line numbers, so that it
 * can be copied into `edit_file`; a first line in brackets says what isn't shown.
 */
import { isUtf8 } from "node:buffer";
import { readSync } from "node:fs";
import { type ContainedFile, withContained } from "@metier/base/files";
import { openForReading } from "@metier/sandbox";
import { isText, mediaTypeOf, partialEdges } from "@metier/skills";
import { answer, countSchema, fault, inputSchema, type Tool, type ToolOutput, textSchema } from "../tool.ts";
import { explainFault, printPath } from "./paths.ts";

interface ReadInput {
  readonly path: string;
  readonly offset?: number;
  readonly limit?: number;
}

const DEFAULT_LINES = 2000;
const MAX_LINES = 20_000;
const MAX_BYTES = 100_000;
const SAMPLE_BYTES = 8192;
/** Finding a line far into a larger file would take too long. */
const MAX_FILE_BYTES: number = 512 * 1024 * 1024;

export function readFileTool(): Tool {
  return {
    name: "read_file",
    description:
      "Reads a text file. Relative paths start at the working directory. Long files are given in parts: the first " +
      "line, in brackets, then says which lines these are and with which offset to read on.",
    inputSchema: inputSchema(
      {
        path: textSchema("The file."),
        offset: countSchema("The first line to read, from 1. Default: 1.", 1),
        limit: countSchema(`How many lines at most. Default: ${DEFAULT_LINES}.`, 1, MAX_LINES),
      },
      ["path"],
    ),
    effect: "read",
    async execute(input, { world }) {
      const wanted = input as unknown as ReadInput;
      const read = withContained(openForReading(world, wanted.path), (file) => readRange(file, wanted));
      return "ok" in read ? explainFault(world, wanted.path, read) : read;
    },
  };
}

function readRange(
  { descriptor, stats }: ContainedFile,
  { path, offset = 1, limit = DEFAULT_LINES }: ReadInput,
): ToolOutput {
  const size = Number(stats.size);
  const shown = `\`${printPath(path)}\``;
  const sample = wholeCharacters(readFrom(descriptor, 0, SAMPLE_BYTES));
  const type = mediaTypeOf(path, sample);
  if (isBinary(sample, type)) {
    return fault(`${shown} is not text: ${type}, ${size} bytes. Use a program that knows the format.`);
  }
  if (size > MAX_FILE_BYTES) {
    return fault(`${shown} has ${size} bytes; at most ${MAX_FILE_BYTES} are read. Use a command.`);
  }
  if (size === 0) return answer(`[${printPath(path)} is empty]`);
  const read = readLines(descriptor, offset, limit);
  if (read.lines === 0) return fault(`${shown} has ${countLines(read.skipped)}; there is no line ${offset}.`);
  const bytes = read.isLineCut ? wholeCharacters(read.bytes) : read.bytes;
  const notes = [
    ...describePart(read, offset, size),
    ...(isUtf8(bytes) ? [] : ["not UTF-8: � stands for what is none"]),
  ];
  const header = notes.length === 0 ? "" : `[${notes.join("; ")}]\n`;
  return answer(header + bytes.toString());
}

function countLines(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}

function describePart(
  { lines, isLineCut, isEnd }: LinesRead,
  offset: number,
  size: number,
): readonly string[] {
  if (offset === 1 && isEnd && !isLineCut) return [];
  const last = offset + lines - 1;
  const part = lines === 1 ? `line ${offset}` : `lines ${offset}-${last}`;
  return [
    `${part} of a file of ${size} bytes`,
    ...(isLineCut ? [`the line is longer than ${MAX_BYTES} bytes and was cut`] : []),
    isEnd ? "the file ends here" : `read on with offset ${last + 1}`,
  ];
}

/** Files in an old encoding are shown as far as possible; known formats and files with NUL bytes aren't. */
function isBinary(sample: Buffer, type: string): boolean {
  return sample.includes(0) || (!isText(sample) && type !== "application/octet-stream");
}

/** Without half a character at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length - partialEdges(bytes).after);
}

interface LinesRead {
  readonly bytes: Buffer;
  /** Lines in `bytes`, including a cut one. */
  readonly lines: number;
  /** The only line was longer than `MAX_BYTES`. */
  readonly isLineCut: boolean;
  /** The file ends after these lines. */
  readonly isEnd: boolean;
  /** Lines before `from`; fewer than `from - 1` if the file is shorter. */
  readonly skipped: number;
}

const PIECE = 65_536;
const NEW_LINE = 0x0a;

/**
 * Whole lines of an open file, from any line on, however large the file is: it is read piece by piece, and only the
 * requested part is kept. A line ends after its `\n`; joined ranges are the file. Lines that don't fit into `MAX_BYTES`
 * are left for the next range; a first line that doesn't fit is cut. `from` is the first line, from 1.
 */
function readLines(descriptor: number, from: number, maxLines: number): LinesRead {
  const { position, skipped } = findLine(descriptor, from);
  const bytes = readFrom(descriptor, position, MAX_BYTES + 1);
  const { end, lines } = takeLines(bytes, maxLines);
  if (lines === 0 && bytes.length > MAX_BYTES) {
    const after = findLine(descriptor, 2, position + MAX_BYTES);
    const isEnd = after.skipped === 0 || readFrom(descriptor, after.position, 1).length === 0;
    return { bytes: bytes.subarray(0, MAX_BYTES), lines: 1, isLineCut: true, isEnd, skipped };
  }
  return { bytes: bytes.subarray(0, end), lines, isLineCut: false, isEnd: end === bytes.length, skipped };
}

/** Where line `line` starts, counted from `start`; the end of the file if there are fewer. */
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

/** How far the first lines reach that fit both limits. */
function takeLines(bytes: Buffer, maxLines: number): { end: number; lines: number } {
  let end = 0;
  let lines = 0;
  while (lines < maxLines && end < bytes.length) {
    const found = bytes.indexOf(NEW_LINE, end);
    const next = found === -1 ? bytes.length : found + 1;
    if (next > MAX_BYTES) break;
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
