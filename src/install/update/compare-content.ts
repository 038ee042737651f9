/** What changed between two versions of a skill, for a person to read: files with counts of lines, and a bounded diff. */
import { readlinkSync } from "node:fs";
import { join } from "node:path";
import { readBounded } from "../../host/read-bounded.ts";
import { type ContentChange, compareIdentity } from "../../trust/content-identity.ts";
import type { IdentifiedFile } from "../../trust/identify-file.ts";
import type { ReviewedFile } from "../update-request.ts";
import { type DiffLine, diffLines } from "./diff-lines.ts";

/** A skill's files, and where they lie. */
export interface SkillFiles {
  readonly directory: string;
  readonly files: readonly IdentifiedFile[];
}

export interface ContentDifference {
  readonly files: readonly ReviewedFile[];
  readonly diff: string;
}

/** Larger files are generated or data, and nobody reads their diff. */
const MAX_TEXT_BYTES = 256 * 1024;
/** Of a version that changes more files, nobody reads every line. */
const MOST_COMPARED = 300;
const MOST_LINES = 600;
const MAX_LINE = 400;
const CONTEXT = 3;

export function compareContent(before: SkillFiles, after: SkillFiles): ContentDifference {
  const [old, now] = [readerOf(before), readerOf(after)];
  const files: ReviewedFile[] = [];
  const shown: string[] = [];
  for (const { path, change } of compareIdentity(before.files, after.files)) {
    const isCompared = change !== "mode" && files.length < MOST_COMPARED;
    const lines = isCompared ? compareTexts(old.read(path), now.read(path)) : undefined;
    files.push({ path, change, ...(lines && countLines(lines)) });
    if (shown.length <= MOST_LINES) shown.push(...showFile(path, change, lines, now.file(path)));
  }
  return { files, diff: cut(shown).join("\n") };
}

/** `undefined` where one of them is no text to be compared. */
function compareTexts(
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): readonly DiffLine[] | undefined {
  return before && after ? diffLines(before, after) : undefined;
}

interface FileReader {
  file(path: string): IdentifiedFile | undefined;
  /** Its lines, none for a file that is not there; `undefined` for what is no text. */
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
  const lines = read.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
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
    return [...head, `(no text, or too large to show${now ? `; ${now.size} bytes` : ""})`];
  return [...head, ...showHunks(lines)];
}

/** Runs of changes with a few lines around them, as `diff -u` shows them. */
function showHunks(lines: readonly DiffLine[]): readonly string[] {
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
      ...hunk.lines.map(showLine),
    );
    before += old;
    after += now;
  }
  return shown;
}

/** Of no lines, the line before them. */
function startOf(line: number, count: number): number {
  return count === 0 ? line - 1 : line;
}

interface Hunk {
  /** Lines that are the same, since the hunk before. */
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

function showLine({ kind, text }: DiffLine): string {
  return `${MARKS[kind]}${text.length > MAX_LINE ? `${text.slice(0, MAX_LINE)}…` : text}`;
}

function cut(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES), "(what is more is not shown)"];
}
