/**
 * The tools that read and write files. They see exactly the world that the run's commands see. This file has those that
 * write: `write_file`, and `edit_file`, which changes only the text it replaces: a file that isn't UTF-8 is refused,
 * and if a file's lines end with `\r\n`, plain line breaks in a text match those.
 */
import { isUtf8 } from "node:buffer";
import { type ContainedFile, withContained } from "@metier/base/files";
import { done, type Result, refused } from "@metier/base/result";
import { openForReading, type World, whyNotWritable, writeFileInWorld } from "@metier/sandbox";
import { answer, fault, inputSchema, type Tool, type ToolOutput, textSchema } from "../tool.ts";
import { grepSearchTool } from "./grep-search.ts";
import { listFilesTool } from "./list-files.ts";
import { explainFault, printPath } from "./paths.ts";
import { readFileTool, readFrom } from "./read-file.ts";

/** Created once, on first use: their input schemas are compiled once too. */
let made: readonly Tool[] | undefined;

export function fileTools(): readonly Tool[] {
  made ??= [readFileTool(), writeFileTool(), editFileTool(), listFilesTool(), grepSearchTool()];
  return made;
}

/** `write_file`: creates or replaces a whole file, where the run may write. */
export function writeFileTool(): Tool {
  return {
    name: "write_file",
    description:
      "Makes a file, with the folders above it, or replaces its whole content. To change a part of a file use " +
      "`edit_file`.",
    inputSchema: inputSchema(
      {
        path: textSchema("The file."),
        content: { type: "string", description: "The whole new content." },
      },
      ["path", "content"],
    ),
    effect: "write",
    async preview(input, world) {
      const { path, content } = input as { readonly path: string; readonly content: string };
      const impossible = whyNotWritable(world, path);
      if (impossible) return refused(explainFault(world, path, impossible));
      const read = withContained(openForReading(world, path), (file) => ({
        text: readWhole(file, path),
        size: Number(file.stats.size),
      }));
      if (!("text" in read)) return done(await previewChange(path, undefined, content));
      if (typeof read.text === "string") return done(await previewChange(path, read.text, content));
      const diff = await previewChange(path, undefined, content);
      // What is replaced isn't text, or is too large to show; but it exists.
      return done(
        diff.replace(
          /^.*/,
          `--- ${printPath(path)} (${read.size} bytes, not shown; all of them are replaced)`,
        ),
      );
    },
    async execute(input, { world }) {
      const { path, content } = input as { readonly path: string; readonly content: string };
      const written = writeFileInWorld(world, path, content);
      if (!written.ok) return explainFault(world, path, written);
      return answer(`Wrote ${Buffer.byteLength(content)} bytes to \`${printPath(path)}\`.`);
    },
  };
}

interface EditInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

interface Replaced {
  readonly text: string;
  readonly count: number;
}

const MAX_FILE_BYTES: number = 10 * 1024 * 1024;
const MAX_STRING = 1_000_000;

function editFileTool(): Tool {
  return {
    name: "edit_file",
    description:
      "Replaces a text in a file by another. `old_string` must stand in the file exactly as given, blanks and line " +
      "breaks included, and only once: give enough of the lines around it. With `replace_all` every occurrence is replaced.",
    inputSchema: inputSchema(
      {
        path: textSchema("The file."),
        old_string: textSchema("The text that is there.", MAX_STRING),
        new_string: { type: "string", maxLength: MAX_STRING, description: "What takes its place." },
        replace_all: { type: "boolean", description: "Replace every occurrence. Default: false." },
      },
      ["path", "old_string", "new_string"],
    ),
    effect: "write",
    async preview(input, world) {
      const edit = input as unknown as EditInput;
      const { path } = edit;
      const impossible = whyNotWritable(world, path);
      if (impossible) return refused(explainFault(world, path, impossible));
      const planned = planEdit(world, edit);
      if (!planned.ok) return planned;
      return done(await previewChange(path, planned.value.before, planned.value.text));
    },
    async execute(input, { world }) {
      const edit = input as unknown as EditInput;
      const { path } = edit;
      const planned = planEdit(world, edit);
      if (!planned.ok) return planned.refusal;
      const { text, count } = planned.value;
      const written = writeFileInWorld(world, path, text);
      if (!written.ok) return explainFault(world, path, written);
      const times = count === 1 ? "1 occurrence" : `${count} occurrences`;
      return answer(`Replaced ${times} in \`${printPath(path)}\`.`);
    },
  };
}

/** What an edit makes of the current file. */
function planEdit(world: World, edit: EditInput): Result<Replaced & { readonly before: string }, ToolOutput> {
  const { path } = edit;
  const before = withContained(openForReading(world, path), (file) => readWhole(file, path));
  if (typeof before !== "string") return refused("ok" in before ? explainFault(world, path, before) : before);
  const replaced = replaceText(before, edit);
  if (replaced.ok) return done({ ...replaced.value, before });
  return refused(fault(`\`${printPath(path)}\` was not changed: ${replaced.refusal}`));
}

/** Loaded when someone is asked: most runs ask nobody. */
async function previewChange(path: string, before: string | undefined, after: string): Promise<string> {
  const { showTextChange } = await import("@metier/install/engine");
  return showTextChange(printPath(path), before, after);
}

function readWhole({ descriptor, stats }: ContainedFile, path: string): string | ToolOutput {
  const shown = `\`${printPath(path)}\``;
  const size = Number(stats.size);
  if (size > MAX_FILE_BYTES) {
    return fault(`${shown} has ${size} bytes; files of up to ${MAX_FILE_BYTES} are edited. Use a command.`);
  }
  const bytes = readFrom(descriptor, 0, size);
  if (!isUtf8(bytes)) {
    return fault(
      `${shown} is not UTF-8 text, so an edit would damage it. Use a program that knows the format.`,
    );
  }
  return bytes.toString();
}

/** Outside of the replaced text, no character changes. */
export function replaceText(text: string, edit: Omit<EditInput, "path">): Result<Replaced, string> {
  const { old_string: from, new_string: to, replace_all: replaceAll = false } = edit;
  if (from === to) return refused("`old_string` and `new_string` are the same.");
  const forms = formsOf(text, from, to).filter((form) => text.includes(form.from));
  if (forms.length === 0) {
    return refused(`\`old_string\` is not in it. ${describeNearText(text, from)}`);
  }
  const replaced = replaceEvery(text, forms);
  if (replaceAll || (replaced.count === 1 && !standsTwice(text, forms))) return done(replaced);
  const how = "Give more of the lines around the one that is meant, or set `replace_all`.";
  return refused(`\`old_string\` is in it ${Math.max(2, replaced.count)} times. ${how}`);
}

interface Form {
  readonly from: string;
  readonly to: string;
}

/** What `old_string` may match: models see and write `\n`, whatever line breaks a file has, even mixed ones. */
function formsOf(text: string, from: string, to: string): readonly Form[] {
  if (from.includes("\r") || !text.includes("\r\n")) return [{ from, to }];
  const windows = { from: toCrlf(from), to: toCrlf(to) };
  return from.includes("\n") ? [windows, { from, to }] : [windows];
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** In one pass, so that nothing is replaced within inserted text. */
function replaceEvery(text: string, [form, ...others]: readonly Form[]): Replaced {
  if (form === undefined) return { text, count: 0 };
  const parts = text.split(form.from);
  const count = parts.length - 1;
  if (others.length === 0) return { text: parts.join(form.to), count };
  const replaced = parts.map((part) => replaceEvery(part, others));
  const inside = replaced.reduce((sum, part) => sum + part.count, 0);
  return { text: replaced.map((part) => part.text).join(form.to), count: count + inside };
}

/**
 * Also if the matches overlap: `aa` is in `aaa` twice, and so may two forms of one text be. A line break within a
 * longer one isn't a separate match.
 */
function standsTwice(text: string, forms: readonly Form[]): boolean {
  const places = forms.flatMap(({ from }) => placesOf(text, from));
  const isWithin = (a: Place, b: Place): boolean => a !== b && b.start <= a.start && a.end <= b.end;
  return places.filter((place) => !places.some((other) => isWithin(place, other))).length > 1;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function placesOf(text: string, searched: string): readonly Place[] {
  const places: Place[] = [];
  for (let start = text.indexOf(searched); start !== -1; start = text.indexOf(searched, start + 1)) {
    places.push({ start, end: start + searched.length });
  }
  return places;
}

const MAX_LINES = 20_000;
const MAX_LINE = 500;
const MAX_SHOWN = 200;
/** The share of common words above which a line is worth naming. */
const NEAR = 0.5;

/** The closest match for a text that wasn't found, so that the next try can succeed: one or two sentences. */
function describeNearText(text: string, wanted: string): string {
  const lines = text.split("\n", MAX_LINES);
  const [first = "", ...rest] = wanted.split("\n").filter((line) => line.trim() !== "");
  const near = findNearest(lines, first);
  const advice = "Read the file and copy the text exactly.";
  if (near === undefined) return `No line of it is like the first of \`old_string\`. ${advice}`;
  const found = lines[near] ?? "";
  if (normalise(found) !== normalise(first)) {
    return `The nearest line is ${near + 1}: ${show(found)}. ${advice}`;
  }
  if (!found.includes(first.trim()) || (rest.length === 0 && !found.includes(first))) {
    return `Line ${near + 1} differs in its blanks only: ${show(found)}. ${advice}`;
  }
  return `Its first line is line ${near + 1}, but the text does not go on as \`old_string\` does. ${advice}`;
}

/** The index of the line most like `wanted`: equal except for blanks, or with the most words in common. */
function findNearest(lines: readonly string[], wanted: string): number | undefined {
  const target = normalise(wanted);
  const exact = lines.findIndex((line) => normalise(line) === target);
  if (exact !== -1) return exact;
  const words = wordsOf(wanted);
  let best: number | undefined;
  let bestScore = NEAR;
  for (const [index, line] of lines.entries()) {
    const score = similarity(words, wordsOf(line));
    if (score > bestScore || (best === undefined && score === bestScore)) {
      best = index;
      bestScore = score;
    }
  }
  return best;
}

/** From 0 to 1: the share of words that both have. */
function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const common = [...a].filter((word) => b.has(word)).length;
  return a.size + b.size === 0 ? 0 : (2 * common) / (a.size + b.size);
}

function wordsOf(line: string): ReadonlySet<string> {
  const words = line
    .slice(0, MAX_LINE)
    .toLowerCase()
    .match(/[\p{L}\p{N}_]+/gu);
  return new Set(words);
}

function normalise(line: string): string {
  return line.slice(0, MAX_LINE).replace(/\s+/g, " ").trim();
}

function show(line: string): string {
  const plain = line.replace(/\r$/, "");
  return JSON.stringify(plain.length > MAX_SHOWN ? `${plain.slice(0, MAX_SHOWN)}…` : plain);
}
