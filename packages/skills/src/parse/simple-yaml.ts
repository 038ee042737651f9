/**
 * The fast path for common frontmatter: keys with plain or quoted values, nested maps, lists of scalars, simple block
 * scalars. Returns exactly what the full parser would, or `undefined` if it is not sure.
 */
import type { Json } from "@metier/base/json";
import { isUnambiguous, readPlain, readScalar, resolvePlain, sliceTrimmed } from "./simple-scalar.ts";
import { findLineEnd } from "./source-text.ts";

interface Reader {
  readonly text: string;
  /** Where the next line starts. */
  at: number;
  /** Spaces before the next line's content; set by `skipToContent`. */
  indent: number;
}

const MAX_DEPTH = 8;
const NEWLINE = 0x0a;
const SPACE = 0x20;
const HASH = 0x23;
const DASH = 0x2d;
const COLON = 0x3a;

const PRINTABLE_ASCII = /^[\n -~]*$/;

/** `text` has `\n` line breaks. An empty document is left to the full parser. */
export function parseSimpleYaml(text: string): Record<string, Json> | undefined {
  // Tabs, control and invisible characters: the full path reports those.
  if (!PRINTABLE_ASCII.test(text) && /[^\P{Cc}\n]|\p{Default_Ignorable_Code_Point}/u.test(text))
    return undefined;
  const reader: Reader = { text, at: 0, indent: 0 };
  if (!skipToContent(reader) || reader.indent !== 0) return undefined;
  const map = readMap(reader, 0, 0);
  return map !== undefined && reader.at >= text.length ? map : undefined;
}

/** To the next line that is neither blank nor a comment; `false` at the end. */
function skipToContent(reader: Reader): boolean {
  const { text } = reader;
  while (reader.at < text.length) {
    let at = reader.at;
    while (text.charCodeAt(at) === SPACE) at++;
    const code = text.charCodeAt(at);
    if (code !== NEWLINE && code !== HASH && at < text.length) {
      reader.indent = at - reader.at;
      return true;
    }
    reader.at = findLineEnd(text, at) + 1;
  }
  return false;
}

function readMap(reader: Reader, indent: number, depth: number): Record<string, Json> | undefined {
  const map: Record<string, Json> = {};
  while (skipToContent(reader) && reader.indent >= indent) {
    if (reader.indent > indent) return undefined;
    const start = reader.at + indent;
    const colon = findKeyEnd(reader.text, start);
    if (colon === undefined) return undefined;
    const key = reader.text.slice(start, colon);
    if (Object.hasOwn(map, key) || key === "__proto__") return undefined;
    const value = readValue(reader, colon + 1, indent, depth);
    if (value === undefined) return undefined;
    map[key] = value;
  }
  return map;
}

/** The colon after a key of letters, digits, `_`, `-` and `.`, if a space or line break follows it. */
function findKeyEnd(text: string, start: number): number | undefined {
  let at = start;
  while (isKeyCharacter(text.charCodeAt(at))) at++;
  const after = text.charCodeAt(at + 1);
  const ends =
    text.charCodeAt(at) === COLON && (after === SPACE || after === NEWLINE || at + 1 === text.length);
  return ends && isLetter(text.charCodeAt(start)) && at - start < 128 ? at : undefined;
}

function isLetter(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f;
}

function isKeyCharacter(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39) || code === DASH || code === 0x2e;
}

/** What follows `key:`, and the lines below that belong to it. */
function readValue(reader: Reader, after: number, indent: number, depth: number): Json | undefined {
  const { text } = reader;
  const end = findLineEnd(text, after);
  let start = after;
  while (text.charCodeAt(start) === SPACE) start++;
  reader.at = end + 1;
  if (start >= end || text.charCodeAt(start) === HASH) return readNested(reader, indent, depth);
  const first = text.charAt(start);
  if (first === "|" || first === ">") return readBlockScalar(reader, sliceTrimmed(text, start, end), indent);
  if (continues(reader, indent)) return readFoldedPlain(reader, start, end, indent);
  return readScalar(text, start, end);
}

/** Whether the next line is indented more than the key, so that a plain value continues there. */
function continues({ text, at }: Reader, indent: number): boolean {
  for (let column = 0; column <= indent; column++) {
    if (text.charCodeAt(at + column) !== SPACE) return false;
  }
  let first = at + indent;
  while (text.charCodeAt(first) === SPACE) first++;
  const code = text.charCodeAt(first);
  return first < text.length && code !== NEWLINE && code !== HASH;
}

/** A plain value over several lines without blank ones: joined by single spaces. */
function readFoldedPlain(reader: Reader, start: number, end: number, indent: number): Json | undefined {
  const { text } = reader;
  let value = readPlain(text, start, end);
  while (value !== undefined && continues(reader, indent)) {
    const next = findLineEnd(text, reader.at);
    const line = sliceTrimmed(text, reader.at, next);
    value = isUnambiguous(line) ? `${value} ${line}` : undefined;
    reader.at = next + 1;
  }
  return value === undefined ? undefined : resolvePlain(value);
}

/** A map or list below a key without a value; if there is none: null. */
function readNested(reader: Reader, indent: number, depth: number): Json | undefined {
  if (!skipToContent(reader) || reader.indent < indent) return null;
  const isList = isListItem(reader.text, reader.at + reader.indent);
  if (reader.indent === indent && !isList) return null;
  if (depth === MAX_DEPTH) return undefined;
  return isList ? readList(reader, reader.indent) : readMap(reader, reader.indent, depth + 1);
}

function isListItem(text: string, at: number): boolean {
  return text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === SPACE;
}

/** Items that are scalars, one per line. */
function readList(reader: Reader, indent: number): Json | undefined {
  const { text } = reader;
  const items: Json[] = [];
  while (skipToContent(reader) && reader.indent >= indent) {
    let start = reader.at + indent;
    if (reader.indent > indent) return undefined;
    if (!isListItem(text, start)) break;
    start += 2;
    while (text.charCodeAt(start) === SPACE) start++;
    const end = findLineEnd(text, start);
    const item = readScalar(text, start, end);
    if (item === undefined || start === end) return undefined;
    items.push(item);
    reader.at = end + 1;
  }
  return items;
}

/** `|`, `|-`, `>` and `>-` over evenly indented lines; blank lines must be empty. */
function readBlockScalar(reader: Reader, header: string, indent: number): string | undefined {
  if (!["|", "|-", ">", ">-"].includes(header)) return undefined;
  const lines = readBlockLines(reader, indent);
  if (lines === undefined || lines.length === 0) return undefined;
  const value = header.startsWith("|") ? lines.join("\n") : foldLines(lines);
  return value === undefined || header.endsWith("-") ? value : `${value}\n`;
}

/** The lines of a block scalar without their indentation and trailing blank lines. */
function readBlockLines(reader: Reader, indent: number): string[] | undefined {
  const { text } = reader;
  const lines: string[] = [];
  let own = 0;
  let filled = 0;
  while (reader.at < text.length) {
    const end = findLineEnd(text, reader.at);
    let start = reader.at;
    while (text.charCodeAt(start) === SPACE) start++;
    const width = start - reader.at;
    if (start >= end) {
      if (width > 0) return undefined;
      lines.push("");
    } else {
      if (width <= indent) break;
      own ||= width;
      if (width < own) return undefined;
      lines.push(text.slice(reader.at + own, end));
      filled = lines.length;
    }
    reader.at = end + 1;
  }
  return lines.slice(0, filled);
}

/** Adjacent lines are joined by a space, blank lines become line breaks; lines with more indentation are not simple. */
function foldLines(lines: readonly string[]): string | undefined {
  let value = "";
  let separator = "";
  for (const line of lines) {
    if (line.startsWith(" ")) return undefined;
    if (line === "") {
      separator = separator.endsWith("\n") ? `${separator}\n` : "\n";
    } else {
      value += separator + line;
      separator = " ";
    }
  }
  return value;
}
