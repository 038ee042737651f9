/**
 * The text of a skill file: without byte order mark, with `\n` as its only line end, offsets as lines and columns; the words
 * for what is wrong with its form; and where a key stands, found when asked, since most files need neither.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Position } from "../skill/skill.ts";
import { withoutQuotes } from "./yaml-lines.ts";

/** A diagnostic before it knows its file: what the parts of the parser report; `parse-skill.ts` adds the path. */
export type UnplacedDiagnostic = Omit<Diagnostic, "path">;

const NEWLINE = 0x0a;

/** How many line ends stand in `text` from `start` up to `end`. */
export function countLineEnds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The 1-based line of `at`. */
export function lineNumber(text: string, at: number): number {
  return countLineEnds(text, 0, at) + 1;
}

/** The offset of the line end that closes the line of `at`, or the end of the text. */
export function findLineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Where the line of `at` begins. */
export function findLineStart(text: string, at: number): number {
  if (at === 0 || text.charCodeAt(at - 1) === NEWLINE) return at;
  return text.lastIndexOf("\n", at - 1) + 1;
}

/** Line and column of `offset`, when the text's first line is line `firstLine` of its file. */
export function positionAt(text: string, offset: number, firstLine: number): Position {
  const at = Math.min(offset, text.length);
  const lineStart = findLineStart(text, at);
  return { line: firstLine + countLineEnds(text, 0, lineStart), column: at - lineStart + 1 };
}

/** Text of a file inside a message: on one line, and cut when it is long. */
export function shorten(text: string, most = 60): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** What is wrong with the form of a file, and what to do: worded once. */
const FORM_FAULTS = {
  "file.bom": [
    "info",
    "The file begins with a byte order mark, which was skipped.",
    "Save the file as UTF-8 without a byte order mark.",
  ],
  "file.line-ends": [
    "info",
    "Lines end in CR LF or CR; they were read as LF.",
    "Save the file with LF line ends.",
  ],
  "file.escaped-line-ends": [
    "warning",
    "The file has the two characters `\\n` where lines should end; they were read as line ends.",
    "Write real line ends.",
  ],
  "frontmatter.no-opening": [
    "error",
    "The frontmatter has no opening `---`; the keys at the beginning of the file were read all the same.",
    "Put a line `---` before the first key.",
  ],
  "frontmatter.unclosed": [
    "error",
    "The frontmatter has no closing `---`; the keys were read up to the first line that is not YAML.",
    "Put a line `---` after the last key.",
  ],
  "frontmatter.glued-fence": [
    "warning",
    "Text follows the closing `---` on its line; it was read as the beginning of the body.",
    "Leave `---` alone on its line.",
  ],
  "frontmatter.stray-fence": [
    "warning",
    "An empty `---` block stands before the frontmatter; it was skipped.",
    "Keep one `---` before the keys and one after them.",
  ],
  "frontmatter.code-fence": [
    "warning",
    "The frontmatter stands in a code block; it was read as if it did not.",
    "Remove the lines of backticks around it.",
  ],
  "frontmatter.leading-comment": [
    "warning",
    "A comment stands before the frontmatter; it was skipped.",
    "Move the comment below the closing `---`: many clients need `---` on the first line.",
  ],
  "frontmatter.leading-blank": [
    "info",
    "Blanks or blank lines stand before the opening `---`; they were skipped.",
    "Let the file begin with `---`: some clients need it there.",
  ],
  "instructions.not-text": [
    "error",
    "`instructions` is not text; the skill has no instructions.",
    "Write `instructions: |` and the text below it, indented.",
  ],
} as const;

/** Lines are 1-based. */
export function formFault(code: keyof typeof FORM_FAULTS, line: number, column?: number): UnplacedDiagnostic {
  const [severity, message, hint] = FORM_FAULTS[code];
  return { code, severity, message, line, ...(column !== undefined && { column }), hint };
}

/** For what was put right or left out, so that the rest can be read. */
export function warnAt(
  place: Position | { readonly line: number },
  code: UnplacedDiagnostic["code"],
  message: string,
  hint: string,
): UnplacedDiagnostic {
  return { code, severity: "warning", message, ...place, hint };
}

/** Without byte order mark and with `\n` as its only line end; what was changed is a fault. */
export function normaliseText(source: string, faults: UnplacedDiagnostic[]): string {
  let text = source;
  if (text.startsWith("\uFEFF")) {
    text = text.slice(1);
    faults.push(formFault("file.bom", 1, 1));
  }
  if (text.includes("\r")) {
    text = text.replace(/\r\n?/g, "\n");
    faults.push(formFault("file.line-ends", 1));
  }
  // The file went through something that escaped it. Lines are then those of the text as it was meant.
  if (text.startsWith("---\\n")) {
    text = text.replaceAll("\\n", "\n");
    faults.push(formFault("file.escaped-line-ends", 1, 4));
  }
  return text;
}

/** Of a key that stands twice, the last one: it counts. `yaml`'s first line is line `firstLine` of its file. */
export function locateKey(yaml: string, firstLine: number, key: string): Position | undefined {
  const first = yaml.search(/\S/);
  const isFlow = yaml.charAt(first) === "{";
  const offset = isFlow ? findInFlow(yaml, key) : findAtLineStart(yaml, key);
  return offset === undefined ? undefined : positionAt(yaml, offset, firstLine);
}

function findAtLineStart(yaml: string, key: string): number | undefined {
  let base: number | undefined;
  let found: number | undefined;
  for (let at = 0; at < yaml.length; at = findLineEnd(yaml, at) + 1) {
    const line = yaml.slice(at, findLineEnd(yaml, at));
    const content = line.trimStart();
    if (content === "" || content.startsWith("#")) continue;
    const indent = line.length - content.length;
    base ??= indent;
    if (indent === base && isKey(content, key)) found = at + indent;
  }
  return found;
}

/** In flow style, `{name: x, description: y}`: the first place where the key is followed by a colon. */
function findInFlow(yaml: string, key: string): number | undefined {
  for (let at = yaml.indexOf(key); at !== -1; at = yaml.indexOf(key, at + 1)) {
    const isQuoted = /["']/.test(yaml.charAt(at - 1));
    const start = isQuoted ? at - 1 : at;
    if (/[{,\s]/.test(yaml.charAt(start - 1)) && isKey(yaml.slice(start, start + key.length + 8), key))
      return start;
  }
  return undefined;
}

function isKey(text: string, key: string): boolean {
  const quote = text.startsWith('"') || text.startsWith("'") ? text.charAt(0) : "";
  const written = quote + key + quote;
  return text.startsWith(written) && /^[ \t]*[:：]/.test(text.slice(written.length));
}

/**
 * How a number or boolean is written: `version: 1.0` is the number 1, and only its text says which version was meant. For
 * a key at the top level or one level below it; anything but a single plain word is not found.
 */
export function writtenScalar(yaml: string, path: readonly string[]): string | undefined {
  const [key = "", child] = path;
  const entry = findEntry(yaml, key);
  if (entry === undefined) return undefined;
  if (child === undefined) return plainWord(entry.value);
  if (entry.value.startsWith("{")) return childInFlow(entry.value, child);
  return entry.value === "" ? plainWord(findEntry(unindent(entry.below), child)?.value) : undefined;
}

interface Entry {
  readonly value: string;
  readonly below: string;
}

/** The last entry of that key at the left edge: it is the one that counts. */
function findEntry(yaml: string, key: string): Entry | undefined {
  let found: Entry | undefined;
  for (let at = 0; at < yaml.length; at = findLineEnd(yaml, at) + 1) {
    const end = findLineEnd(yaml, at);
    const line = yaml.slice(at, end);
    const colon = line.indexOf(":");
    if (colon <= 0 || withoutQuotes(line.slice(0, colon).trimEnd()) !== key) continue;
    found = { value: line.slice(colon + 1).trim(), below: yaml.slice(end + 1, endOfBlock(yaml, end + 1)) };
  }
  return found;
}

function endOfBlock(yaml: string, start: number): number {
  let at = start;
  while (at < yaml.length && /^(?:[ \t]|[ \t]*(?:#.*)?$)/.test(yaml.slice(at, findLineEnd(yaml, at)))) {
    at = findLineEnd(yaml, at) + 1;
  }
  return at;
}

/** The lines of a block at the left edge; deeper ones stay indented, so that their keys are not taken for its own. */
function unindent(block: string): string {
  const indent = /^([ \t]+)[^\s#]/m.exec(block)?.[1] ?? "";
  return block
    .split("\n")
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join("\n");
}

function childInFlow(flow: string, child: string): string | undefined {
  for (const part of flow.slice(1, -1).split(",")) {
    const colon = part.indexOf(":");
    if (withoutQuotes(part.slice(0, colon).trim()) === child) return plainWord(part.slice(colon + 1));
  }
  return undefined;
}

function plainWord(value: string | undefined): string | undefined {
  const word = value?.replace(/\s+#.*$/, "").trim();
  return word !== undefined && /^[\w.+-]+$/.test(word) ? word : undefined;
}
