/** A skill file as fixes see it: its lines with their line ends, and which of them belong to which key. */
import { splitFrontmatter, splitYamlFile } from "../../parse/split-frontmatter.ts";
import { splitEntries, type YamlEntry } from "../../parse/yaml-entries.ts";
import type { SkillManifest } from "../../skill/manifest.ts";
import type { ParsedSkill } from "../../skill/skill.ts";

export interface FixableFile {
  /** Each with its own line end. */
  readonly lines: readonly string[];
  /** The line end the file uses first. */
  readonly lineEnd: string;
  /** The index of the first line of the frontmatter. */
  readonly yamlStart: number;
  readonly entries: readonly YamlEntry[];
  readonly parsed: ParsedSkill;
  /** What the file is read as now. */
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

/** The top-level entry that has the 1-based line of the file. */
export function entryAt({ entries, yamlStart }: FixableFile, line: number): YamlEntry | undefined {
  return entries.findLast((entry) => yamlStart + entry.index < line);
}

/** The entry's lines as they stand in the file, up to the comments and blank lines before the next key. */
export function linesOf({ lines, yamlStart }: FixableFile, entry: YamlEntry): readonly string[] {
  const last = entry.below.findLastIndex((line) => !/^\s*(?:#|$)/.test(line));
  return lines.slice(yamlStart + entry.index, yamlStart + entry.index + last + 2);
}

/** The file's text with other lines in place of the entry's; given without line ends. */
export function withEntry(file: FixableFile, entry: YamlEntry, lines: readonly string[]): string {
  return withLines(file, file.yamlStart + entry.index, linesOf(file, entry).length, lines);
}

/** The file's text with `count` lines from index `start` replaced; given without line ends. */
export function withLines(
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

/** A line without its line end. */
export function bare(line: string): string {
  return line.replace(/[\r\n]+$/, "");
}
