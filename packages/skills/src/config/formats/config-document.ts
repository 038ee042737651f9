/**
 * A config file in any format: read, parsed into values and key positions, and edited so that everything else stays.
 * Loads no parser by itself.
 */
import { lstatSync, readFileSync, statSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import { done, type Result, refused } from "@metier/base/result";
import type { Position } from "../../skill/skill.ts";
import { formatKeyPath } from "../show-config.ts";
import { isTable } from "../value-types.ts";

export type ConfigFormat = "toml" | "yaml" | "json";

export interface ConfigDocument {
  readonly values: Readonly<Record<string, unknown>>;
  /** Where a key is, or the nearest table above it that can be found. */
  locate(path: readonly string[]): Position | undefined;
}

/** A value of any kind; list items are located by index. */
export interface LocatedValue extends Pick<ConfigDocument, "locate"> {
  readonly value: unknown;
}

/** Why a file is not a config file. The detail never quotes the file: the line may contain a secret. */
export class ConfigSyntaxError extends Error {
  readonly position: Position | undefined;
  constructor(detail: string, position?: Position) {
    super(detail);
    this.name = "ConfigSyntaxError";
    this.position = position;
  }
}

/** By the file's extension; anything else is read as TOML. */
export function formatOf(file: string): ConfigFormat {
  if (/\.ya?ml$/i.test(file)) return "yaml";
  return /\.json$/i.test(file) ? "json" : "toml";
}

/** Parsers are loaded when a file of their format exists. Throws `ConfigSyntaxError`. */
export async function parseConfigDocument(text: string, format: ConfigFormat): Promise<ConfigDocument> {
  const source = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const parse = await loadParser(format);
  try {
    return parse(source);
  } catch (fault) {
    if (fault instanceof RangeError) throw new ConfigSyntaxError("it is nested too deeply");
    throw fault;
  }
}

async function loadParser(format: ConfigFormat): Promise<(text: string) => ConfigDocument> {
  if (format === "yaml") return (await import("./yaml-document.ts")).parseYamlDocument;
  if (format === "json") return (await import("./json-document.ts")).parseJsonDocument;
  return (await import("./toml-document.ts")).parseTomlDocument;
}

/** Positions of a text's keys: offsets during parsing, lines and columns on request. */
export class KeyIndex {
  readonly #offsets = new Map<string, number>();
  readonly #text: string;
  #lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The first mention of a path counts. */
  add(path: readonly string[], offset: number): void {
    const key = path.join("\0");
    if (!this.#offsets.has(key)) this.#offsets.set(key, offset);
  }

  /** The key, or the nearest known table above it. */
  find(path: readonly string[]): Position | undefined {
    for (let length = path.length; length > 0; length--) {
      const offset = this.#offsets.get(path.slice(0, length).join("\0"));
      if (offset !== undefined) return this.positionOf(offset);
    }
    return undefined;
  }

  positionOf(offset: number): Position {
    this.#lineStarts ??= findLineStarts(this.#text);
    const starts = this.#lineStarts;
    let low = 0;
    for (let high = starts.length - 1; low < high; ) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  }
}

/** Most documents are never asked for positions, so keys are located on demand. */
export function locateBy(indexKeys: () => KeyIndex): ConfigDocument["locate"] {
  let index: KeyIndex | undefined;
  return (path) => {
    index ??= indexKeys();
    return index.find(path);
  };
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** One key as written in the file; without a value it is removed. */
export interface DocumentChange {
  readonly path: readonly string[];
  readonly value?: unknown;
  /** Lines above a table, in TOML. */
  readonly comment?: readonly string[];
}

/** The text must be valid; an empty one is a new file. */
export async function editDocument(
  text: string,
  format: ConfigFormat,
  changes: readonly DocumentChange[],
): Promise<string> {
  if (format === "yaml") return (await import("./yaml-document.ts")).editYaml(text, changes);
  if (format === "json") return editJson(text, changes);
  return editToml(text, changes);
}

type Table = Readonly<Record<string, unknown>>;

/** Tables down to `[skills.gog.capability-provider]` are sections; anything deeper is inline. */
const SECTION_LEVELS = 4;

/** Before it is needed, for a program that has time now. */
export async function loadTomlEditor() {
  const { parse, patch } = await import("@decimalturn/toml-patch");
  return { parse, patch };
}

async function editToml(text: string, changes: readonly DocumentChange[]): Promise<string> {
  // Lists of tables in a new file: nothing is there to keep, and the reader's library is loaded and much smaller.
  if (text === "" && changes.every(({ value }) => isTableList(value))) {
    const values = {};
    applyChanges(values, changes);
    return (await import("./toml-document.ts")).writeToml(values);
  }
  const { parse, patch } = await loadTomlEditor();
  const plain = /[^\r]\n/.test(text) ? text.replaceAll("\r\n", "\n") : text;
  const source = openTables(plain, parse(plain), changes);
  const values = parse(source);
  applyChanges(values, changes);
  const bracketSpacing = /[[{] \S/.test(source);
  const patched = patch(source, values, { inlineTableStart: SECTION_LEVELS, bracketSpacing });
  const result = changes.reduce(commentTable, patched);
  // Cloned, since only the values matter, not the parser's classes.
  const isFaithful = isDeepStrictEqual(structuredClone(parse(result)), structuredClone(values));
  if (!isFaithful) throw new Error("the edit would change other keys too");
  return result.endsWith("\n") ? result : `${result}\n`;
}

/** Above the table's header; an existing comment is not repeated. */
function commentTable(text: string, { path, comment = [] }: DocumentChange): string {
  if (comment.length === 0) return text;
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.trim() === `[${formatKeyPath(path)}]`);
  const written = comment.map((line) => `# ${line}`);
  const isThere =
    at >= 0 && lines.slice(Math.max(0, at - written.length), at).join("\n") === written.join("\n");
  return at < 0 || isThere ? text : lines.toSpliced(at, 0, ...written).join("\n");
}

/**
 * A new list of tables starts as `[[key]]`, one table below the other; the library would write one long line. A new
 * table with a comment gets its header here, without the empty parent header that the library would add.
 */
function openTables(text: string, values: Table, changes: readonly DocumentChange[]): string {
  const headers = changes
    .filter(({ path }) => !isThere(values, path))
    .flatMap(({ path, value, comment = [] }) => {
      if (isTableList(value)) return [`[[${formatKeyPath(path)}]]\n`];
      return isTable(value) && comment.length > 0 ? [`[${formatKeyPath(path)}]\n`] : [];
    });
  return [text.replace(/[^\n]$/, "$&\n"), ...headers].filter((part) => part !== "").join("\n");
}

function isTableList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isTable);
}

/** Whether the document contains the key, or it cannot become a section. */
function isThere(values: Table, path: readonly string[]): boolean {
  let table: unknown = values;
  for (const key of path) {
    if (!isTable(table)) return true;
    if (!Object.hasOwn(table, key)) return false;
    table = table[key];
  }
  return true;
}

function editJson(text: string, changes: readonly DocumentChange[]): string {
  const values = text.trim() === "" ? {} : JSON.parse(text.replace(/^\uFEFF/, ""));
  applyChanges(values, changes);
  const [indent = "  "] = /^[ \t]+(?=")/m.exec(text) ?? [];
  return `${JSON.stringify(values, null, indent)}\n`;
}

function applyChanges(values: Record<string, unknown>, changes: readonly DocumentChange[]): void {
  for (const { path, value } of changes) {
    let table = values;
    for (const key of path.slice(0, -1)) {
      if (!isTable(table[key])) table[key] = {};
      table = table[key] as Record<string, unknown>;
    }
    const last = path.at(-1) ?? "";
    if (value === undefined) delete table[last];
    else table[last] = value;
  }
}

const MOST_BYTES = 256 * 1024;

export type ConfigReading =
  | { readonly status: "absent" }
  | { readonly status: "broken"; readonly diagnostic: Diagnostic }
  | { readonly status: "loaded"; readonly document: ConfigDocument; readonly bytes: Buffer };

export async function readConfigFile(file: string): Promise<ConfigReading> {
  const found = readBytes(file);
  if (!found.ok) return { status: "broken", diagnostic: unreadable(file, found.refusal) };
  const bytes = found.value;
  if (bytes === undefined) return { status: "absent" };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { status: "loaded", document: await parseConfigDocument(text, formatOf(file)), bytes };
  } catch (fault) {
    return { status: "broken", diagnostic: broken(file, toSyntaxError(fault)) };
  }
}

/** The bytes, `undefined` if there is no file, or why it cannot be read. */
function readBytes(file: string): Result<Buffer | undefined, string> {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) return refused("it is not a regular file");
    if (stats.size > MOST_BYTES) {
      return refused(`it has ${stats.size} bytes; the limit is ${MOST_BYTES} bytes`);
    }
    return done(readFileSync(file));
  } catch (fault) {
    const { code = "unknown" } = fault as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ENOTDIR") return refused(`the system says ${code}`);
    const isLink = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
    return isLink ? refused("it is a broken link") : done(undefined);
  }
}

function toSyntaxError(fault: unknown): ConfigSyntaxError {
  if (fault instanceof ConfigSyntaxError) return fault;
  if (fault instanceof TypeError) return new ConfigSyntaxError("it is not UTF-8");
  throw fault;
}

function unreadable(file: string, reason: string): Diagnostic {
  const message = `The config file \`${file}\` cannot be read: ${reason}.`;
  const hint = "Make it a readable text file, or remove it; until then it is skipped.";
  return { code: "config.unreadable", severity: "error", message, path: file, hint };
}

function broken(file: string, { message, position }: ConfigSyntaxError): Diagnostic {
  const where = position ? ` at line ${position.line}, column ${position.column}` : "";
  return {
    code: "config.broken",
    severity: "error",
    message: `The config file \`${file}\` is not valid ${formatOf(file).toUpperCase()}${where}: ${message}.`,
    path: file,
    ...position,
    hint: "Fix that line; until then the whole file is skipped.",
  };
}
