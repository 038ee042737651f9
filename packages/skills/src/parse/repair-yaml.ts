/**
 * Repairs frontmatter that is not YAML: first whitespace that YAML does not accept, then each top-level entry
 * separately. Unreadable entries are left out by name. Every repair is a fault with line, column and the correct form.
 */
import { isJsonObject, type Json } from "@metier/base/json";
import { parseYaml } from "./parse-yaml.ts";
import { type RepairedEntry, repairEntry } from "./repair-entry.ts";
import { parseSimpleYaml } from "./simple-yaml.ts";
import { shorten, type UnplacedDiagnostic, warnAt } from "./source-text.ts";
import { isBlankLine, splitEntries, type YamlEntry } from "./yaml-lines.ts";

interface RepairedYaml {
  readonly value: Readonly<Record<string, Json>>;
  readonly faults: readonly UnplacedDiagnostic[];
}

/** Beyond this size, attempts would take too long for what is hardly a skill's metadata. */
const MAX_LENGTH = 16_384;

/** `undefined` if none of it can be read. `text`'s first line is line `firstLine` of its file. */
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
  faults: UnplacedDiagnostic[],
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

/** The last resort, if the entries are YAML one by one, but not together. */
function readSeparately(
  entries: readonly YamlEntry[],
  written: readonly (readonly string[])[],
  firstLine: number,
): RepairedYaml {
  const value: Record<string, Json> = {};
  const faults: UnplacedDiagnostic[] = [];
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
  faults: UnplacedDiagnostic[],
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

/** `*tools`, if `&tools` is in another entry. */
function isAliasOf(value: string, all: readonly string[]): boolean {
  return /^\*[\w-]+$/.test(value) && all.some((line) => line.includes(`&${value.slice(1)}`));
}

function isYaml(text: string): boolean {
  return parseSimpleYaml(text) !== undefined || parseYaml(text, 1).ok;
}

function readMap(lines: readonly string[], firstLine: number): RepairedYaml | undefined {
  const result = parseYaml(lines.join("\n"), firstLine);
  if (!result.ok || !isJsonObject(result.value.data)) return undefined;
  return { value: result.value.data, faults: result.value.faults };
}

function repairedKey(entry: YamlEntry, line: number): UnplacedDiagnostic {
  const key = shorten(entry.key);
  const message = `The key \`${key}\` ${entry.keyFault}; it was still read as a key.`;
  return warnAt(
    { line, column: 1 },
    "yaml.repaired",
    message,
    `Write \`${key}: …\` at the start of the line.`,
  );
}

function repairedValue(entry: YamlEntry, repaired: RepairedEntry, line: number): UnplacedDiagnostic {
  const key = shorten(entry.key);
  const place = { line: line + repaired.lineOffset, column: repaired.column };
  const message = `The value of \`${key}\` ${repaired.what}; it was repaired.`;
  const hint = repaired.hint ?? `Write it in quotes, \`${key}: "…"\`, or below \`${key}: |\`, indented.`;
  return warnAt(place, "yaml.repaired", message, hint);
}

function leftOutKey({ key, column }: YamlEntry, line: number): UnplacedDiagnostic {
  const message = `The value of \`${shorten(key)}\` is not valid YAML; the key was ignored.`;
  return warnAt({ line, column }, "yaml.dropped", message, "Check its brackets, quotes and indentation.");
}

function leftOutLines(line: number): UnplacedDiagnostic {
  const hint = "Indent what belongs to a key, and move instructions below the closing `---`.";
  return warnAt({ line, column: 1 }, "yaml.dropped", "Lines that belong to no key were ignored.", hint);
}

const LEADING_BLANKS = /^(?:&nbsp;|\s)+/;
const MARK_BLANKS = /^( *(?:- +)*(?:-|[\p{L}_][\p{L}\p{N}_.-]*:))[^\S ]+/u;

/** Whether `&nbsp;` is used as whitespace: YAML reads it as an anchor without complaint. */
export function hasFalseBlanks(text: string): boolean {
  return /^&nbsp;/m.test(text);
}

/**
 * Turns tabs, no-break spaces and `&nbsp;` into the spaces YAML needs, and removes indentation common to all lines; a
 * fault for the first such line.
 */
function repairBlanks(
  lines: readonly string[],
  firstLine: number,
): { readonly lines: readonly string[]; readonly fault: UnplacedDiagnostic | undefined } {
  const spaced = lines.map(repairLine);
  const changed = spaced.findIndex((line, index) => line !== "" && line !== lines[index]);
  const fault = changed === -1 ? undefined : describeBlanks(lines[changed] ?? "", firstLine + changed);
  const width = spaced.find((line) => line !== "")?.search(/\S/) ?? 0;
  return { lines: spaced.map((line) => line.slice(Math.min(width, line.search(/\S|$/)))), fault };
}

function repairLine(line: string): string {
  if (isBlankLine(line)) return "";
  return line
    .replace(LEADING_BLANKS, (blanks) => blanks.replace(/&nbsp;|\s/g, (one) => (one === "\t" ? "  " : " ")))
    .replace(MARK_BLANKS, "$1 ");
}

function describeBlanks(text: string, line: number): UnplacedDiagnostic {
  const hasTab = LEADING_BLANKS.exec(text)?.[0].includes("\t");
  const what = hasTab ? "There is a tab" : "There is whitespace other than spaces";
  const message = `${what} where YAML needs spaces; it was read as spaces.`;
  return warnAt({ line, column: 1 }, "yaml.repaired", message, "Indent with spaces.");
}
