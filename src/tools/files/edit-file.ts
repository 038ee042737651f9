/**
 * `edit_file`: replaces an exact text in a file. Nothing but that text changes: files that are not UTF-8 are refused,
 * and where the file ends its lines with `\r\n`, a text with plain line ends means those.
 */
import { isUtf8 } from "node:buffer";
import { type ContainedFile, withContained } from "../../host/open-contained.ts";
import { openForReading, writeFileInWorld } from "../../sandbox/world-path.ts";
import { answer, fault, type Tool, type ToolOutput } from "../tool.ts";
import { explainFault } from "./explain-fault.ts";
import { describeNearText } from "./near-text.ts";
import { printPath } from "./print-path.ts";
import { readFrom } from "./read-lines.ts";

interface EditInput {
  readonly path: string;
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean;
}

export type Replacement =
  | { readonly ok: true; readonly text: string; readonly count: number }
  | { readonly ok: false; readonly message: string };

const MAX_FILE_BYTES: number = 10 * 1024 * 1024;
const MAX_STRING = 1_000_000;

export function editFileTool(): Tool {
  return {
    name: "edit_file",
    description:
      "Replaces a text in a file by another. `old_string` must stand in the file exactly as given, blanks and line " +
      "breaks included, and only once: give enough of the lines around it. With `replace_all` every occurrence is replaced.",
    inputSchema: {
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, description: "The file." },
        old_string: {
          type: "string",
          minLength: 1,
          maxLength: MAX_STRING,
          description: "The text that is there.",
        },
        new_string: { type: "string", maxLength: MAX_STRING, description: "What takes its place." },
        replace_all: { type: "boolean", description: "Replace every occurrence. Default: false." },
      },
      required: ["path", "old_string", "new_string"],
      additionalProperties: false,
    },
    effect: "write",
    async execute(input, { world }) {
      const edit = input as unknown as EditInput;
      const { path } = edit;
      const read = withContained(openForReading(world, path), (file) => readWhole(file, path));
      if (typeof read !== "string") return "ok" in read ? explainFault(world, path, read) : read;
      const replaced = replaceText(read, edit);
      if (!replaced.ok) return fault(`\`${printPath(path)}\` was not changed: ${replaced.message}`);
      const written = writeFileInWorld(world, path, replaced.text);
      if (!written.ok) return explainFault(world, path, written);
      const times = replaced.count === 1 ? "1 occurrence" : `${replaced.count} occurrences`;
      return answer(`Replaced ${times} in \`${printPath(path)}\`.`);
    },
  };
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

/** Outside of the replaced text not a character changes. */
export function replaceText(text: string, edit: Omit<EditInput, "path">): Replacement {
  const { old_string: from, new_string: to, replace_all: replaceAll = false } = edit;
  if (from === to) return { ok: false, message: "`old_string` and `new_string` are the same." };
  const forms = formsOf(text, from, to).filter((form) => text.includes(form.from));
  if (forms.length === 0) {
    return { ok: false, message: `\`old_string\` is not in it. ${describeNearText(text, from)}` };
  }
  const replaced = replaceEvery(text, forms);
  if (replaceAll || (replaced.count === 1 && !standsTwice(text, forms))) return { ok: true, ...replaced };
  const how = "Give more of the lines around the one that is meant, or set `replace_all`.";
  return { ok: false, message: `\`old_string\` is in it ${Math.max(2, replaced.count)} times. ${how}` };
}

interface Form {
  readonly from: string;
  readonly to: string;
}

/** What `old_string` may stand for: models see and write `\n`, whatever line ends a file has, or even both kinds. */
function formsOf(text: string, from: string, to: string): readonly Form[] {
  if (from.includes("\r") || !text.includes("\r\n")) return [{ from, to }];
  const windows = { from: toCrlf(from), to: toCrlf(to) };
  return from.includes("\n") ? [windows, { from, to }] : [windows];
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, "\r\n");
}

/** In one go, so that nothing is replaced within what was put in. */
function replaceEvery(text: string, [form, ...others]: readonly Form[]): { text: string; count: number } {
  if (form === undefined) return { text, count: 0 };
  const parts = text.split(form.from);
  const count = parts.length - 1;
  if (others.length === 0) return { text: parts.join(form.to), count };
  const replaced = parts.map((part) => replaceEvery(part, others));
  const inside = replaced.reduce((sum, part) => sum + part.count, 0);
  return { text: replaced.map((part) => part.text).join(form.to), count: count + inside };
}

/**
 * Also where the places overlap: `aa` stands in `aaa` at two places, and so may two forms of one text. A line end within a
 * longer one is no place of its own.
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
