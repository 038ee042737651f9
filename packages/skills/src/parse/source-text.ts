/**
 * A skill file's text: without byte order mark, with only `\n` line breaks, offsets as lines and columns; the messages
 * about its form; and key positions, found on demand, since most files need neither.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Position } from "../skill/skill.ts";
import { withoutQuotes } from "./yaml-lines.ts";

/** A diagnostic before it knows its file: what the parser's parts report; `parse-skill.ts` adds the path. */
export type UnplacedDiagnostic = Omit<Diagnostic, "path">;

const NEWLINE = 0x0a;

/** How many line breaks are in `text` from `start` up to `end`. */
export function countLineEnds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The 1-based line of `at`. */
export function lineNumber(text: string, at: number): number {
  return countLineEnds(text, 0, at) + 1;
}

/** The offset of the line break that ends the line of `at`, or the end of the text. */
export function findLineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Where the line of `at` starts. */
export function findLineStart(text: string, at: number): number {
  if (at === 0 || text.charCodeAt(at - 1) === NEWLINE) return at;
  return text.lastIndexOf("\n", at - 1) + 1;
}

/** Line and column of `offset`, if the text's first line is line `firstLine` of its file. */
export function positionAt(text: string, offset: number, firstLine: number): Position {
  const at = Math.min(offset, text.length);
  const lineStart = findLineStart(text, at);
  return { line: firstLine + countLineEnds(text, 0, lineStart), column: at - lineStart + 1 };
}

/** A file's text inside a message: on one line, and truncated if long. */
export function shorten(text: string, most = 60): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}

/** What is wrong with a file's form, and what to do, in one place. */
const FORM_FAULTS = {
  "file.bom": [
    "info",
    "The file starts with a byte order mark, which was skipped.",
    "Save the file as UTF-8 without a byte order mark.",
  ],
  "file.line-ends": [
    "info",
    "Lines end in CR LF or CR; they were read as LF.",
    "Save the file with LF line endings.",
  ],
  "file.escaped-line-ends": [
    "warning",
    "The file has the two characters `\\n` instead of line breaks; they were read as line breaks.",
    "Use real line breaks.",
  ],
  "frontmatter.no-opening": [
    "error",
    "The frontmatter has no opening `---`; the keys at the start of the file were still read.",
    "Add a `---` line before the first key.",
  ],
  "frontmatter.unclosed": [
    "error",
    "The frontmatter has no closing `---`; the keys were read up to the first line that is not YAML.",
    "Add a `---` line after the last key.",
  ],
  "frontmatter.glued-fence": [
    "warning",
    "There is text after the closing `---` on the same line; it was read as the start of the body.",
    "Put `---` on its own line.",
  ],
  "frontmatter.stray-fence": [
    "warning",
    "There is an empty `---` block before the frontmatter; it was skipped.",
    "Keep one `---` before the keys and one after them.",
  ],
  "frontmatter.code-fence": [
    "warning",
    "The frontmatter is inside a code block; the code block was ignored.",
    "Remove the backtick lines around it.",
  ],
  "frontmatter.leading-comment": [
    "warning",
    "There is a comment before the frontmatter; it was skipped.",
    "Move the comment below the closing `---`: many clients need `---` on the first line.",
  ],
  "frontmatter.leading-blank": [
    "info",
    "There are spaces or blank lines before the opening `---`; they were skipped.",
    "Start the file with `---`: some clients require it.",
  ],
  "instructions.not-text": [
    "error",
    "`instructions` is not text; the skill has no instructions.",
    "Write `instructions: |` and the indented text below it.",
  ],
} as const;

/** Lines are 1-based. */
export function formFault(code: keyof typeof FORM_FAULTS, line: number, column?: number): UnplacedDiagnostic {
  const [severity, message, hint] = FORM_FAULTS[code];
  return { code, severity, message, line, ...(column !== undefined && { column }), hint };
}

/** For what was fixed or left out, so that the rest can be read. */
export function warnAt(
  place: Position | { readonly line: number },
  code: UnplacedDiagnostic["code"],
  message: string,
  hint: string,
): UnplacedDiagnostic {
  return { code, severity: "warning", message, ...place, hint };
}

/** Without byte order mark and with only `\n` line breaks; changes are reported as faults. */
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
  // Something escaped the file. Lines are then those of the intended text.
  if (text.startsWith("---\\n")) {
    text = text.replaceAll("\\n", "\n");
    faults.push(formFault("file.escaped-line-ends", 1, 4));
  }
  return text;
}

/** For a duplicate key, the last one, which counts. `yaml`'s first line is line `firstLine` of its file. */
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

/** In flow style, `{name: x, description: y}`: the first place where a colon follows the key. */
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
 * How a number or boolean is written: `version: 1.0` is the number 1, and only its text says which version was meant.
 * For a key at the top level or one level below; finds only a single plain word.
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

/** The last entry with that key at the left edge: the one that counts. */
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
