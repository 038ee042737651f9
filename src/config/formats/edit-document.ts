/** Changes to the text of a config file that leave everything else in it as it was, comments above all. */
import { isDeepStrictEqual } from "node:util";
import { isTable } from "../value-types.ts";
import type { ConfigFormat } from "./config-document.ts";

/** One key, as it is written in the file; without a value it is removed. */
export interface DocumentChange {
  readonly path: readonly string[];
  readonly value?: unknown;
}

/** The text must be valid; an empty one is a file that is yet to be made. */
export async function editDocument(
  text: string,
  format: ConfigFormat,
  changes: readonly DocumentChange[],
): Promise<string> {
  if (format === "yaml") return (await import("./edit-yaml.ts")).editYaml(text, changes);
  if (format === "json") return editJson(text, changes);
  return editToml(text, changes);
}

type Table = Readonly<Record<string, unknown>>;

/** Tables down to `[skills.gog.capability-provider]` are sections; anything deeper stands in braces. */
const SECTION_LEVELS = 4;

async function editToml(text: string, changes: readonly DocumentChange[]): Promise<string> {
  const { parse, patch } = await import("@decimalturn/toml-patch");
  const plain = /[^\r]\n/.test(text) ? text.replaceAll("\r\n", "\n") : text;
  const source = openTables(plain, parse(plain), changes);
  const values = parse(source);
  applyChanges(values, changes);
  const bracketSpacing = /[[{] \S/.test(source);
  const result = patch(source, values, { inlineTableStart: SECTION_LEVELS, bracketSpacing });
  // Cloned, since only the values matter, not the classes the parser makes them of.
  const isFaithful = isDeepStrictEqual(structuredClone(parse(result)), structuredClone(values));
  if (!isFaithful) throw new Error("the edit would change other keys too");
  return result.endsWith("\n") ? result : `${result}\n`;
}

/** A new list of tables begins as `[[key]]`, one table below the other; the library would write one long line. */
function openTables(text: string, values: Table, changes: readonly DocumentChange[]): string {
  const headers = changes
    .filter(({ path, value }) => isTableList(value) && !isThere(values, path))
    .map(
      ({ path }) =>
        `[[${path.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join(".")}]]\n`,
    );
  return [text.replace(/[^\n]$/, "$&\n"), ...headers].filter((part) => part !== "").join("\n");
}

function isTableList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isTable);
}

/** Whether the key stands in the document, or cannot be opened as a section of its own. */
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
