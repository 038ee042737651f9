/**
 * The one splitter: a skill file's text into frontmatter and body. Line-based, linear, knows no YAML.
 * It repairs what real files get wrong about the fences; each repair is a fault.
 */
import type { Fault } from "./fault.ts";
import { gluedFence, missingFrontmatter, strayFence, unclosedFrontmatter } from "./fence-faults.ts";
import { findOpening, isFence, nextLine, type Opening, skipBlanks } from "./find-opening.ts";
import { normaliseText } from "./normalise-text.ts";
import { countLineEnds, findLineEnd, findLineStart } from "./text-position.ts";
import { countYamlLines, hasSwallowedBody, isBlankLine, isKeyLine, isLeadingKeyLine } from "./yaml-lines.ts";

/** Characters of frontmatter that are read as YAML. */
export const MAX_FRONTMATTER = 65_536;

const HASH = 0x23;

export interface SplitFile {
  /** The whole text: no byte order mark, `\n` line ends. */
  readonly text: string;
  /** The frontmatter without its fences; `undefined` when there is none. */
  readonly yaml: string | undefined;
  /** Where it begins in `text`. */
  readonly yamlStart: number;
  /** Whether a fence ends the frontmatter. */
  readonly isClosed: boolean;
  /** 1-based line of the file on which `yaml` begins. */
  readonly yamlLine: number;
  /** Without surrounding blank lines. */
  readonly body: string;
  /** 1-based line of the file on which `body` begins. */
  readonly bodyLine: number;
  readonly faults: readonly Fault[];
}

/** Offsets into the text; what lies between the parts is fences. */
interface Cut {
  readonly yamlStart: number;
  readonly yamlEnd: number;
  readonly bodyStart: number;
  readonly bodyEnd?: number;
  readonly isClosed: boolean;
}

/** What follows a closing fence. */
interface Fence {
  readonly bodyStart: number;
  /** The body begins on the line of the fence. */
  readonly isGlued: boolean;
}

interface Closing extends Fence {
  /** Where the line of the fence begins. */
  readonly at: number;
}

export function splitFrontmatter(source: string): SplitFile {
  const faults: Fault[] = [];
  const text = normaliseText(source, faults);
  const opening = findOpening(text);
  if (opening === undefined) return cutWithoutFrontmatter(text, faults);
  if (opening.faults.length > 0) faults.push(...opening.faults);
  if (opening.closedBy === undefined) return cutAfterYaml(text, opening.yamlStart, faults);

  const closing = findClosing(text, opening, opening.closedBy);
  if (closing === undefined) return cutUnclosed(text, opening.yamlStart, faults);
  const second = findSecondBlock(text, opening, closing);
  if (second !== undefined) {
    faults.push(strayFence(openingLine(text, opening.yamlStart)));
    return cutText(text, second, faults);
  }
  if (closing.isGlued) faults.push(gluedFence(countLineEnds(text, 0, closing.at) + 1));
  const cut = {
    yamlStart: opening.yamlStart,
    yamlEnd: closing.at,
    bodyStart: closing.bodyStart,
    isClosed: true,
  };
  return cutText(text, opening.wrapper === undefined ? cut : unwrapBody(text, cut, opening.wrapper), faults);
}

/** A `.yaml` skill: the whole file, or what stands between its `---` lines. */
export function splitYamlFile(source: string): SplitFile {
  const faults: Fault[] = [];
  const text = normaliseText(source, faults);
  const first = skipBlanks(text, 0);
  const yamlStart = isFence(text, first) ? nextLine(text, first) : 0;
  const closing = findClosing(text, { indent: "", yamlStart }, "---");
  const cut = {
    yamlStart,
    yamlEnd: closing?.at ?? text.length,
    bodyStart: closing?.bodyStart ?? text.length,
    isClosed: false,
  };
  return cutText(text, cut, faults);
}

/**
 * For frontmatter that is not YAML: when its closing fence was forgotten and a rule in the body was taken for it,
 * the file is cut again where the body begins.
 */
export function recutSwallowedBody(split: SplitFile): SplitFile | undefined {
  const { text, yaml, yamlStart, isClosed, faults } = split;
  if (yaml === undefined || !isClosed || !hasSwallowedBody(yaml.split("\n"))) return undefined;
  return cutUnclosed(text, yamlStart, [...faults]);
}

/** Goes from one place with the marks to the next, since most lines have none. */
function findClosing(
  text: string,
  { yamlStart, indent }: Pick<Opening, "yamlStart" | "indent">,
  marks: string,
): Closing | undefined {
  let found = text.indexOf(marks, yamlStart);
  while (found !== -1) {
    const at = Math.max(yamlStart, findLineStart(text, found));
    const first = text.startsWith(indent, at) ? at + indent.length : at;
    const fence = first === found ? readFence(text, found, marks) : undefined;
    if (fence !== undefined) return { at, bodyStart: fence.bodyStart, isGlued: fence.isGlued };
    found = text.indexOf(marks, findLineEnd(text, found));
  }
  return undefined;
}

/** `---` or backticks, alone on the line; `---` also with text after it, which real files have. */
function readFence(text: string, at: number, marks: string): Fence | undefined {
  if (!text.startsWith(marks, at)) return undefined;
  const end = findLineEnd(text, at);
  const after = text.slice(at + marks.length, end);
  if (after === "" || isBlankLine(after))
    return { bodyStart: Math.min(end + 1, text.length), isGlued: false };
  if (marks !== "---" || after.startsWith("-")) return undefined;
  return { bodyStart: end - after.trimStart().length, isGlued: true };
}

/** `---`, nothing or comments, `---`, and at once the real frontmatter, with or without an opening of its own. */
function findSecondBlock(text: string, opening: Opening, closing: Closing): Cut | undefined {
  const first = skipBlanks(text, opening.yamlStart);
  if (first !== closing.at && text.charCodeAt(first) !== HASH) return undefined;
  const block = text.slice(opening.yamlStart, closing.at);
  if (!block.split("\n").every((line) => isBlankLine(line) || line.startsWith("#"))) return undefined;

  const next = skipBlanks(text, closing.bodyStart);
  const yamlStart = isFence(text, next) ? nextLine(text, next) : closing.bodyStart;
  const end = findClosing(text, { yamlStart, indent: "" }, "---");
  if (end === undefined) return undefined;
  const lines = text.slice(yamlStart, end.at).split("\n");
  const beginsWithKey = isKeyLine(lines.find((line) => !isBlankLine(line)) ?? "");
  if (!beginsWithKey || !lines.some(isLeadingKeyLine)) return undefined;
  return { yamlStart, yamlEnd: end.at, bodyStart: end.bodyStart, isClosed: true };
}

/** The code fence that was opened before the frontmatter ends right after it, or at the end of the file. */
function unwrapBody(text: string, cut: Cut, wrapper: string): Cut {
  const first = skipBlanks(text, cut.bodyStart);
  if (text.slice(first, findLineEnd(text, first)).trimEnd() === wrapper) {
    return { ...cut, bodyStart: nextLine(text, first) };
  }
  const end = text.trimEnd().length;
  const last = text.lastIndexOf("\n", end - 1) + 1;
  return text.slice(last, end) === wrapper && last >= cut.bodyStart ? { ...cut, bodyEnd: last } : cut;
}

function cutUnclosed(text: string, yamlStart: number, faults: Fault[]): SplitFile {
  faults.push(unclosedFrontmatter(openingLine(text, yamlStart)));
  return cutAfterYaml(text, yamlStart, faults);
}

/** The line before the frontmatter; it may be the last one and lack its line end. */
function openingLine(text: string, yamlStart: number): number {
  return countLineEnds(text, 0, yamlStart - 1) + 1;
}

/** The frontmatter ends where its lines stop looking like YAML, be it at a fence or not. */
function cutAfterYaml(text: string, yamlStart: number, faults: Fault[]): SplitFile {
  const count = countYamlLines(text.slice(yamlStart).split("\n"));
  let yamlEnd = yamlStart;
  for (let line = 0; line < count; line++) yamlEnd = nextLine(text, yamlEnd);
  const next = skipBlanks(text, yamlEnd);
  const fence = readFence(text, next, "---");
  if (fence?.isGlued) faults.push(gluedFence(countLineEnds(text, 0, next) + 1));
  return cutText(
    text,
    { yamlStart, yamlEnd, bodyStart: fence?.bodyStart ?? yamlEnd, isClosed: false },
    faults,
  );
}

function cutWithoutFrontmatter(text: string, faults: Fault[]): SplitFile {
  const nothing = { yamlStart: 0, yamlEnd: 0, bodyStart: 0, isClosed: false };
  faults.push(missingFrontmatter(isBlankLine(text)));
  return { ...cutText(text, nothing, faults), yaml: undefined };
}

function cutText(text: string, cut: Cut, faults: readonly Fault[]): SplitFile {
  const { yamlStart, yamlEnd, bodyStart, isClosed } = cut;
  const yamlLine = countLineEnds(text, 0, yamlStart) + 1;
  // Whole blank lines only: the first line of the body keeps its indentation.
  const first = skipBlanks(text, bodyStart);
  const body = text.slice(Math.max(bodyStart, findLineStart(text, first)), cut.bodyEnd).trimEnd();
  const bodyLine = yamlLine + countLineEnds(text, yamlStart, body === "" ? bodyStart : first);
  const yaml = detach(text.slice(yamlStart, yamlEnd));
  return { text, yaml, yamlStart, isClosed, yamlLine, body, bodyLine, faults };
}

/** A copy of its own: a slice would keep the whole file in memory for as long as one of its values lives. */
function detach(slice: string): string {
  return ` ${slice}`.slice(1);
}
