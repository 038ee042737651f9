/**
 * A skill file as lines and top-level entries, edited so that everything else stays byte for byte: for all kinds of
 * fixes.
 */
import { isJsonObject, type Json } from "@metier/base/json";
import { parseSimpleYaml } from "../parse/simple-yaml.ts";
import { splitFrontmatter, splitYamlFile } from "../parse/split-frontmatter.ts";
import { splitEntries, type YamlEntry } from "../parse/yaml-lines.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";

export interface FixableFile {
  /** Each with its own line break. */
  readonly lines: readonly string[];
  /** The file's first kind of line break. */
  readonly lineEnd: string;
  /** The index of the first line of the frontmatter. */
  readonly yamlStart: number;
  readonly entries: readonly YamlEntry[];
  readonly parsed: ParsedSkill;
  /** How the file is read now. */
  readonly manifest: SkillManifest;
}

/** Texts of the whole file in which the finding at `line` (1-based) may be gone. */
export type Fix = (file: FixableFile, line: number) => readonly string[];

export function openFile(text: string, parsed: ParsedSkill, manifest: SkillManifest): FixableFile {
  const split = parsed.candidate.form === "yaml" ? splitYamlFile(text) : splitFrontmatter(text);
  return {
    lines: text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [],
    lineEnd: /\r\n|\r|\n/.exec(text)?.[0] ?? "\n",
    yamlStart: split.yamlLine - 1,
    entries: splitEntries((split.yaml ?? "").split("\n")).entries,
    parsed,
    manifest,
  };
}

/** The top-level entry at the file's 1-based line. */
export function entryAt({ entries, yamlStart }: FixableFile, line: number): YamlEntry | undefined {
  return entries.findLast((entry) => yamlStart + entry.index < line);
}

/** The entry's lines in the file, up to the comments and blank lines before the next key. */
export function linesOf({ lines, yamlStart }: FixableFile, entry: YamlEntry): readonly string[] {
  const last = entry.below.findLastIndex((line) => !/^\s*(?:#|$)/.test(line));
  return lines.slice(yamlStart + entry.index, yamlStart + entry.index + last + 2);
}

/** The file's text with the entry's lines replaced; given without line breaks. */
export function replaceEntry(file: FixableFile, entry: YamlEntry, lines: readonly string[]): string {
  return replaceLines(file, file.yamlStart + entry.index, linesOf(file, entry).length, lines);
}

/** The file's text with `count` lines from index `start` replaced; given without line breaks. */
export function replaceLines(
  file: FixableFile,
  start: number,
  count: number,
  replacement: readonly string[],
): string {
  const before = file.lines.slice(0, start).join("");
  const opened = before === "" || /[\r\n]$/.test(before) ? before : before + file.lineEnd;
  const inserted = replacement.map((line) => line + file.lineEnd).join("");
  return opened + inserted + file.lines.slice(start + count).join("");
}

/** A line without its line break. */
export function bare(line: string): string {
  return line.replace(/[\r\n]+$/, "");
}

/**
 * A key and its value as plain YAML that every parser reads the same way: in blocks, without flow style if possible.
 * Lines without line breaks.
 */
export function writeEntry(key: string, value: Json): readonly string[] {
  if (typeof value === "string") return writeText(key, value);
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    const inner = Object.entries(value).flatMap(([name, item]) => writeEntry(writeScalar(name), item));
    return [`${key}:`, ...inner.map(indent)];
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isScalar)) {
    return [`${key}:`, ...value.map((item: Json) => `  - ${writeScalar(item)}`)];
  }
  return [`${key}: ${JSON.stringify(value)}`];
}

/** Text of several lines becomes a block, unless that would lose spaces. */
function writeText(key: string, text: string): readonly string[] {
  const isBlock = text.includes("\n") && !/^\s|[^\S\n](?:\n|$)|\n\n$|\t/.test(text);
  if (!isBlock) return [`${key}: ${writeScalar(text)}`];
  const lines = text.replace(/\n$/, "").split("\n");
  return [`${key}: ${text.endsWith("\n") ? "|" : "|-"}`, ...lines.map(indent)];
}

function indent(line: string): string {
  return line === "" ? "" : `  ${line}`;
}

/** Without quotes if that reads as the same text. */
function writeScalar(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  const isPlain = /^[^\s"'[][^\n]*$/.test(value) && parseSimpleYaml(`key: ${value}`)?.key === value;
  return isPlain ? value : JSON.stringify(value);
}

function isScalar(value: Json): boolean {
  return typeof value !== "object" || value === null;
}

/** Whether two texts read as the same skill. A number that became text may show how it was written: `1` and `1.0`. */
export function isSameReading(a: unknown, b: unknown): boolean {
  if (typeof a === "string" && typeof b === "string") return a === b || isSameNumber(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isSameReading((a as Fields)[key], (b as Fields)[key]));
}

type Fields = Readonly<Record<string, unknown>>;

function isSameNumber(a: string, b: string): boolean {
  return a.trim() !== "" && b.trim() !== "" && Number(a) === Number(b);
}
