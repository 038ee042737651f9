/**
 * Frontmatter that is not YAML, repaired: blanks that YAML does not take, then each top-level entry on its own. What
 * cannot be read is left out by name. Every repair is a fault with line, column and how to write it properly.
 */
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { isJsonMap, parseYaml } from "./parse-yaml.ts";
import { repairBlanks } from "./repair-blanks.ts";
import { type RepairedEntry, repairEntry } from "./repair-entry.ts";
import { shorten } from "./shorten.ts";
import { parseSimpleYaml } from "./simple-yaml.ts";
import { splitEntries, type YamlEntry } from "./yaml-entries.ts";

export interface RepairedYaml {
  readonly value: Readonly<Record<string, Json>>;
  readonly faults: readonly Fault[];
}

/** Beyond this the attempts would take too long for what is hardly a skill's metadata. */
const MAX_LENGTH = 16_384;

/** `undefined` when nothing of it can be read. `text`'s first line is line `firstLine` of its file. */
export function repairYaml(text: string, firstLine: number): RepairedYaml | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const { lines, fault } = repairBlanks(text.split("\n"), firstLine);
  if (fault === undefined) return repairEntries(lines, firstLine, []);
  const whole = readMap(lines, firstLine);
  return whole ? { ...whole, faults: [fault, ...whole.faults] } : repairEntries(lines, firstLine, [fault]);
}

function repairEntries(
  lines: readonly string[],
  firstLine: number,
  faults: Fault[],
): RepairedYaml | undefined {
  const { entries, stray } = splitEntries(lines);
  if (entries.length === 0) return undefined;
  if (stray !== undefined) faults.push(leftOutLines(firstLine + stray));
  const before = lines.slice(0, entries[0]?.index).map(() => "");
  const written = entries.map((entry) => writeEntry(entry, lines, firstLine, faults));
  const result =
    readMap([...before, ...written.flat()], firstLine) ?? readSeparately(entries, written, firstLine);
  const isEmpty = Object.keys(result.value).length === 0;
  return isEmpty ? undefined : { value: result.value, faults: [...faults, ...result.faults] };
}

/** The last resort, when the entries are YAML one by one, but not together. */
function readSeparately(
  entries: readonly YamlEntry[],
  written: readonly (readonly string[])[],
  firstLine: number,
): RepairedYaml {
  const value: Record<string, Json> = {};
  const faults: Fault[] = [];
  for (const [index, entry] of entries.entries()) {
    const line = firstLine + entry.index;
    const own = readMap(written[index] ?? [], line);
    if (own === undefined) faults.push(leftOutKey(entry, line));
    else {
      Object.assign(value, own.value);
      faults.push(...own.faults);
    }
  }
  return { value, faults };
}

function writeEntry(
  entry: YamlEntry,
  all: readonly string[],
  firstLine: number,
  faults: Fault[],
): readonly string[] {
  const line = firstLine + entry.index;
  if (entry.keyFault !== undefined) faults.push(repairedKey(entry, line));
  const lines = [`${entry.head} ${entry.value}`, ...entry.below];
  if (isYaml(lines.join("\n")) || isAliasOf(entry.value, all)) return lines;
  const repaired = repairEntry(entry, isYaml);
  if (repaired === undefined) {
    faults.push(leftOutKey(entry, line));
    return lines.map(() => "");
  }
  if (repaired.what !== undefined) faults.push(repairedValue(entry, repaired, line));
  if (repaired.leftOut !== undefined) faults.push(leftOutLines(line + repaired.leftOut));
  return repaired.lines;
}

/** `*tools`, when `&tools` stands in another entry. */
function isAliasOf(value: string, all: readonly string[]): boolean {
  return /^\*[\w-]+$/.test(value) && all.some((line) => line.includes(`&${value.slice(1)}`));
}

function isYaml(text: string): boolean {
  return parseSimpleYaml(text) !== undefined || parseYaml(text, 1).ok;
}

function readMap(lines: readonly string[], firstLine: number): RepairedYaml | undefined {
  const result = parseYaml(lines.join("\n"), firstLine);
  return result.ok && isJsonMap(result.value) ? { value: result.value, faults: result.faults } : undefined;
}

function repairedKey(entry: YamlEntry, line: number): Fault {
  const key = shorten(entry.key);
  return {
    code: "yaml.repaired",
    severity: "warning",
    message: `The key \`${key}\` ${entry.keyFault}; it was read as a key all the same.`,
    line,
    column: 1,
    hint: `Write \`${key}: …\` at the beginning of the line.`,
  };
}

function repairedValue(entry: YamlEntry, repaired: RepairedEntry, line: number): Fault {
  const key = shorten(entry.key);
  return {
    code: "yaml.repaired",
    severity: "warning",
    message: `The value of \`${key}\` ${repaired.what}; it was repaired.`,
    line: line + repaired.lineOffset,
    column: repaired.column,
    hint: repaired.hint ?? `Write it in quotes, \`${key}: "…"\`, or below \`${key}: |\`, indented.`,
  };
}

function leftOutKey(entry: YamlEntry, line: number): Fault {
  return {
    code: "yaml.dropped",
    severity: "warning",
    message: `The value of \`${shorten(entry.key)}\` cannot be read as YAML; the key was left out.`,
    line,
    column: entry.column,
    hint: "Check its brackets, quotes and indentation.",
  };
}

function leftOutLines(line: number): Fault {
  return {
    code: "yaml.dropped",
    severity: "warning",
    message: "Lines that belong to no key were left out.",
    line,
    column: 1,
    hint: "Indent what belongs to a key, and move instructions below the closing `---`.",
  };
}
