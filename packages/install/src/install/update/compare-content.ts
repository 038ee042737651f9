/**
 * Shows a person what changed between two versions of a skill: files with line counts, and a bounded line diff, minimal
 * while the changes are few.
 */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { readBounded } from "@metier/base/files";
import { type ContentChange, compareIdentity, type IdentifiedFile } from "@metier/skills/trust";
import { diffArrays } from "diff/lib/diff/array.js";
import type { ReviewedFile } from "../requests.ts";

/** A skill's files, and where they are. */
export interface SkillFiles {
  readonly directory: string;
  readonly files: readonly IdentifiedFile[];
}

/** Larger files are generated or data, and nobody reads their diff. */
const MAX_TEXT_BYTES = 256 * 1024;
/** Nobody reads every line of a version that changes more files. */
const MOST_COMPARED = 300;
const MOST_LINES = 600;
const MAX_LINE = 400;
const CONTEXT = 3;

export function compareContent(
  before: SkillFiles,
  after: SkillFiles,
): { readonly files: readonly ReviewedFile[]; readonly diff: string } {
  const [old, now] = [readerOf(before), readerOf(after)];
  const files: ReviewedFile[] = [];
  const shown: string[] = [];
  for (const { path, change } of compareIdentity(before.files, after.files)) {
    const isCompared = change !== "mode" && files.length < MOST_COMPARED;
    const [was, is] = isCompared ? [old.read(path), now.read(path)] : [];
    const lines = was && is && diffLines(was, is);
    files.push({ path, change, ...(lines && countLines(lines)) });
    if (shown.length <= MOST_LINES) shown.push(...showFile(path, change, lines, now.file(path)));
  }
  const cut = shown.length > MOST_LINES ? ["(the rest is not shown)"] : [];
  return { files, diff: [...shown.slice(0, MOST_LINES), ...cut].join("\n") };
}

/** A file that differs between two versions. */
export interface ComparedFile {
  readonly path: string;
  readonly change: ContentChange;
  /** Runs of changes with some context. Absent: not text, too large, or one of too many. */
  readonly hunks?: readonly ComparedHunk[];
}

interface ComparedHunk {
  /** Of its first line, before and after. */
  readonly before: number;
  readonly after: number;
  readonly lines: readonly DiffLine[];
}

/** The same as data, for another kind of display; beyond this many lines, files have no hunks. */
export function compareFiles(
  before: SkillFiles,
  after: SkillFiles,
  mostLines: number,
): readonly ComparedFile[] {
  const [old, now] = [readerOf(before), readerOf(after)];
  let left = mostLines;
  return compareIdentity(before.files, after.files).map(({ path, change }, index) => {
    const isCompared = change !== "mode" && index < MOST_COMPARED && left > 0;
    const [was, is] = isCompared ? [old.read(path), now.read(path)] : [];
    const lines = was && is && diffLines(was, is);
    const hunks = lines && numberHunks(lines);
    left -= (hunks ?? []).reduce((sum, hunk) => sum + hunk.lines.length, 0);
    return { path, change, ...(hunks && left >= 0 && { hunks }) };
  });
}

function numberHunks(lines: readonly DiffLine[]): readonly ComparedHunk[] {
  let before = 1;
  let after = 1;
  return splitHunks(lines).map((hunk) => {
    const place = { before: before + hunk.skipped, after: after + hunk.skipped };
    before = place.before + hunk.lines.filter(({ kind }) => kind !== "added").length;
    after = place.after + hunk.lines.filter(({ kind }) => kind !== "removed").length;
    return { ...place, lines: hunk.lines.map(({ kind, text }) => ({ kind, text: cutLine(text, MAX_LINE) })) };
  });
}

/** One text before and after, complete: for someone who must agree to every line of the change. */
export function showTextChange(path: string, before: string | undefined, after: string): string {
  const lines = diffLines(toLines(before ?? ""), toLines(after));
  const head = [`--- ${before === undefined ? "/dev/null" : path}`, `+++ ${path}`];
  return [...head, ...showHunks(lines, Number.POSITIVE_INFINITY)].join("\n");
}

function toLines(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

interface FileReader {
  file(path: string): IdentifiedFile | undefined;
  /** Its lines, none for a missing file; `undefined` if it is not text. */
  read(path: string): readonly string[] | undefined;
}

function readerOf({ directory, files }: SkillFiles): FileReader {
  const byPath = new Map(files.map((file) => [file.path, file]));
  return {
    file: (path) => byPath.get(path),
    read(path) {
      const file = byPath.get(path);
      return file === undefined ? [] : readLines(join(directory, path), file);
    },
  };
}

function readLines(place: string, { kind }: IdentifiedFile): readonly string[] | undefined {
  if (kind === "link") return [`-> ${readlinkSync(place)}`];
  const read = readBounded(place, MAX_TEXT_BYTES);
  if (!read.ok || read.notUtf8 || read.text.includes("\0")) return undefined;
  return toLines(read.text);
}

function countLines(lines: readonly DiffLine[]): Pick<ReviewedFile, "added" | "removed"> {
  return {
    added: lines.filter(({ kind }) => kind === "added").length,
    removed: lines.filter(({ kind }) => kind === "removed").length,
  };
}

function showFile(
  path: string,
  change: ContentChange,
  lines: readonly DiffLine[] | undefined,
  now: IdentifiedFile | undefined,
): readonly string[] {
  const head = [
    `--- ${change === "added" ? "/dev/null" : path}`,
    `+++ ${change === "removed" ? "/dev/null" : path}`,
  ];
  if (change === "mode") return [...head, `(now ${now?.executable ? "executable" : "not executable"})`];
  if (lines === undefined)
    return [...head, `(not text, or too large to show${now ? `; ${now.size} bytes` : ""})`];
  return [...head, ...showHunks(lines)];
}

/** Runs of changes with some context, like `diff -u`. */
function showHunks(lines: readonly DiffLine[], maxLine = MAX_LINE): readonly string[] {
  const shown: string[] = [];
  let before = 1;
  let after = 1;
  for (const hunk of splitHunks(lines)) {
    before += hunk.skipped;
    after += hunk.skipped;
    const old = hunk.lines.filter(({ kind }) => kind !== "added").length;
    const now = hunk.lines.filter(({ kind }) => kind !== "removed").length;
    shown.push(
      `@@ -${startOf(before, old)},${old} +${startOf(after, now)},${now} @@`,
      ...hunk.lines.map((line) => showLine(line, maxLine)),
    );
    before += old;
    after += now;
  }
  return shown;
}

/** For no lines, the line before them. */
function startOf(line: number, count: number): number {
  return count === 0 ? line - 1 : line;
}

interface Hunk {
  /** Equal lines since the previous hunk. */
  readonly skipped: number;
  readonly lines: readonly DiffLine[];
}

function splitHunks(lines: readonly DiffLine[]): readonly Hunk[] {
  const changed = lines.flatMap(({ kind }, index) => (kind === "same" ? [] : [index]));
  const hunks: Hunk[] = [];
  let end = 0;
  for (let first = 0; first < changed.length; ) {
    let last = first;
    while (distance(changed, last) <= 2 * CONTEXT + 1) last += 1;
    const from = Math.max(end, (changed[first] ?? 0) - CONTEXT);
    const to = Math.min(lines.length, (changed[last] ?? 0) + CONTEXT + 1);
    hunks.push({ skipped: from - end, lines: lines.slice(from, to) });
    end = to;
    first = last + 1;
  }
  return hunks;
}

function distance(changed: readonly number[], index: number): number {
  return (changed[index + 1] ?? Number.POSITIVE_INFINITY) - (changed[index] ?? 0);
}

const MARKS = { same: " ", added: "+", removed: "-" } as const;

function showLine({ kind, text }: DiffLine, maxLine: number): string {
  return `${MARKS[kind]}${cutLine(text, maxLine)}`;
}

function cutLine(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Time and memory grow with its square; texts that differ more are replaced as a whole. */
const MOST_CHANGES = 500;

export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...before.slice(0, start).map((text) => line("same", text)),
    ...diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((text) => line("same", text)),
  ];
}

function diffMiddle(before: string[], after: string[]): readonly DiffLine[] {
  const changes = diffArrays(before, after, { maxEditLength: MOST_CHANGES });
  if (changes === undefined) {
    return [...before.map((text) => line("removed", text)), ...after.map((text) => line("added", text))];
  }
  return changes.flatMap(({ added, removed, value }) => {
    const kind = added ? "added" : removed ? "removed" : "same";
    return value.map((text) => line(kind, text));
  });
}

function line(kind: DiffLine["kind"], text: string): DiffLine {
  return { kind, text };
}
