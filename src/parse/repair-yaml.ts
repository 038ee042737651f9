/**
 * Frontmatter that is not YAML, repaired: blanks that YAML does not take, then each top-level entry on its own. What
 * cannot be read is left out by name. Every repair is a fault with line, column and how to write it properly.
 */
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { parseYaml } from "./parse-yaml.ts";
import { type RepairedEntry, repairEntry } from "./repair-entry.ts";
import { parseSimpleYaml } from "./simple-yaml.ts";
import { splitEntries, type YamlEntry } from "./yaml-entries.ts";
import { isBlankLine } from "./yaml-lines.ts";

export interface RepairedYaml {
  readonly value: Readonly<Record<string, Json>>;
  readonly faults: readonly Fault[];
}

/** Beyond this the attempts would take too long for what is hardly a skill's metadata. */
const MAX_LENGTH = 16_384;
const LEADING_BLANKS = /^(?:&nbsp;|\s)+/;
const MARK_BLANKS = /^( *(?:- +)*(?:-|[\p{L}_][\p{L}\p{N}_.-]*:))[^\S ]+/u;

/** `undefined` when nothing of it can be read. `text`'s first line is line `firstLine` of its file. */
export function repairYaml(text: string, firstLine: number): RepairedYaml | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const faults: Fault[] = [];
  const lines = repairBlanks(text.split("\n"), firstLine, faults);
  const whole = faults.length > 0 ? readMap(lines, firstLine) : undefined;
  if (whole !== undefined) return { value: whole.value, faults: [...faults, ...whole.faults] };
  return repairEntries(lines, firstLine, faults);
}

/** Whether blanks that YAML reads as something else stand before a key, so that it is read without complaint, but wrongly. */
export function hasFalseBlanks(text: string): boolean {
  return /^&nbsp;/m.test(text);
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
  return { value: result.value, faults: [...faults, ...result.faults] };
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
  if (
    !result.ok ||
    result.value === null ||
    typeof result.value !== "object" ||
    Array.isArray(result.value)
  ) {
    return undefined;
  }
  return { value: result.value as Readonly<Record<string, Json>>, faults: result.faults };
}

/** Tabs, no-break blanks and `&nbsp;` where YAML needs spaces; a common indentation of all lines. */
function repairBlanks(lines: readonly string[], firstLine: number, faults: Fault[]): readonly string[] {
  const spaced = lines.map(repairLineBlanks);
  const changed = spaced.findIndex((line, index) => line !== "" && line !== lines[index]);
  if (changed !== -1) faults.push(repairedBlanks(lines[changed] ?? "", firstLine + changed));
  const first = spaced.find((line) => !isBlankLine(line)) ?? "";
  const indent = first.length - first.trimStart().length;
  return indent === 0
    ? spaced
    : spaced.map((line) => line.slice(Math.min(indent, Math.max(line.search(/\S/), 0))));
}

function repairLineBlanks(line: string): string {
  if (isBlankLine(line)) return "";
  return line
    .replace(LEADING_BLANKS, (blanks) =>
      blanks.replaceAll("&nbsp;", " ").replaceAll("\t", "  ").replace(/\s/g, " "),
    )
    .replace(MARK_BLANKS, "$1 ");
}

function repairedBlanks(line: string, number: number): Fault {
  const leading = LEADING_BLANKS.exec(line)?.[0] ?? "";
  const what = leading.includes("\t") ? "A tab stands" : "Blanks that are not spaces stand";
  return {
    code: "yaml.repaired",
    severity: "warning",
    message: `${what} where YAML needs spaces; they were read as spaces.`,
    line: number,
    column: 1,
    hint: "Indent with spaces.",
  };
}

function repairedKey(entry: YamlEntry, line: number): Fault {
  return {
    code: "yaml.repaired",
    severity: "warning",
    message: `The key \`${entry.key}\` ${entry.keyFault}; it was read as a key all the same.`,
    line,
    column: 1,
    hint: `Write \`${entry.key}: …\` at the beginning of the line.`,
  };
}

function repairedValue(entry: YamlEntry, repaired: RepairedEntry, line: number): Fault {
  return {
    code: "yaml.repaired",
    severity: "warning",
    message: `The value of \`${entry.key}\` ${repaired.what}; it was repaired.`,
    line: line + repaired.lineOffset,
    column: repaired.column,
    hint: `Put text with special characters in quotes, \`${entry.key}: "…"\`, or below \`${entry.key}: |\`, indented.`,
  };
}

function leftOutKey(entry: YamlEntry, line: number): Fault {
  return {
    code: "yaml.dropped",
    severity: "warning",
    message: `The value of \`${entry.key}\` cannot be read as YAML; the key was left out.`,
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
