/**
 * `read_file`: a text file, or a range of its lines. The text is given as it is, without line numbers, so that it can
 * be copied into `edit_file`; a first line in brackets says what is not shown.
 */
import { isUtf8 } from "node:buffer";
import { isText, mediaTypeOf, partialEdges } from "../../disclose/media-type.ts";
import { type ContainedFile, withContained } from "../../host/open-contained.ts";
import { openForReading } from "../../sandbox/world-path.ts";
import { answer, fault, type Tool, type ToolOutput } from "../tool.ts";
import { explainFault } from "./explain-fault.ts";
import { printPath } from "./print-path.ts";
import { type LinesRead, readFrom, readLines } from "./read-lines.ts";

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
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file." },
        offset: { type: "integer", minimum: 1, description: "The first line to read, from 1. Default: 1." },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_LINES,
          description: `How many lines at most. Default: ${DEFAULT_LINES}.`,
        },
      },
      required: ["path"],
      additionalProperties: false,
    },
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
  const read = readLines(descriptor, { from: offset, maxLines: limit, maxBytes: MAX_BYTES });
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

/** Files in an old encoding are shown as far as they can be; known formats and files with NUL bytes are not. */
function isBinary(sample: Buffer, type: string): boolean {
  return sample.includes(0) || (!isText(sample) && type !== "application/octet-stream");
}

/** Without half a character at the end. */
function wholeCharacters(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.length - partialEdges(bytes).after);
}
