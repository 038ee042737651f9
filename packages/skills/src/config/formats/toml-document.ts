/** TOML by `smol-toml`, which keeps no positions; a scan over the already validated text finds the keys. */
import { parse, stringify, TomlError } from "smol-toml";
import { type ConfigDocument, ConfigSyntaxError, KeyIndex, locateBy } from "./config-document.ts";

export function parseTomlDocument(text: string): ConfigDocument {
  return { values: parseToml(text), locate: locateBy(() => indexKeys(text)) };
}

export function writeToml(values: Readonly<Record<string, unknown>>): string {
  return stringify(values);
}

function parseToml(text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch (fault) {
    if (!(fault instanceof TomlError)) throw fault;
    const { line, column } = fault;
    throw new ConfigSyntaxError(describeFault(fault), { line, column });
  }
}

/** The first line of the message; the other lines quote the file. */
function describeFault(fault: TomlError): string {
  const [first = ""] = fault.message.split("\n");
  return first.replace(/^Invalid TOML document: /, "");
}

const BLANK_OR_COMMENT = /(?:[ \t\r\n]|#[^\n]*)*/y;
const KEY_PART = /[ \t]*(?:([A-Za-z0-9_-]+)|"((?:\\.|[^"\\])*)"|'([^']*)')[ \t]*(\.?)/y;
const VALUE_PART =
  /"""(?:\\[\s\S]|[^\\])*?"""+|'''[\s\S]*?'''+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#[^\n]*|[[\]{}\n]|[^"'#[\]{}\n]+/y;

/** Every key and table header of a valid document. Keys in an inline table count as part of it. */
function indexKeys(text: string): KeyIndex {
  const index = new KeyIndex(text);
  let table: readonly string[] = [];
  for (let at = skip(text, 0, BLANK_OR_COMMENT); at < text.length; at = skip(text, at, BLANK_OR_COMMENT)) {
    const isHeader = text[at] === "[";
    const keyStart = isHeader ? at + (text[at + 1] === "[" ? 2 : 1) : at;
    const { segments, end } = readKey(text, keyStart);
    if (end === keyStart) break;
    const base = isHeader ? [] : table;
    for (let length = 1; length <= segments.length; length++)
      index.add([...base, ...segments.slice(0, length)], at);
    if (isHeader) table = segments;
    at = isHeader ? nextLine(text, end) : skipValue(text, end);
  }
  return index;
}

function readKey(
  text: string,
  start: number,
): { readonly segments: readonly string[]; readonly end: number } {
  const segments: string[] = [];
  let end = start;
  for (let more = true; more; ) {
    KEY_PART.lastIndex = end;
    const match = KEY_PART.exec(text);
    if (!match) break;
    segments.push(match[1] ?? (match[2] === undefined ? match[3] : unquote(match[2])) ?? "");
    end = KEY_PART.lastIndex;
    more = match[4] === ".";
  }
  return { segments, end };
}

/** A quoted key with escapes unknown to JSON stays as written; then its table is found. */
function unquote(quoted: string): string {
  try {
    return JSON.parse(`"${quoted}"`);
  } catch {
    return quoted;
  }
}

/** From after the key to the start of the line after the value. */
function skipValue(text: string, start: number): number {
  let at = start;
  let depth = 0;
  while (at < text.length) {
    const end = skip(text, at, VALUE_PART);
    const part = text[at];
    if (part === "\n" && depth === 0) return end;
    if (part === "[" || part === "{") depth++;
    if (part === "]" || part === "}") depth--;
    if (end === at) return nextLine(text, at);
    at = end;
  }
  return at;
}

function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

function nextLine(text: string, at: number): number {
  const newline = text.indexOf("\n", at);
  return newline < 0 ? text.length : newline + 1;
}
