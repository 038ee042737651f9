/**
 * The only splitter: splits a skill file's text into frontmatter and body. Line-based, linear, knows no YAML. It
 * repairs common mistakes with the fences; each repair is a fault.
 */
import {
  countLineEnds,
  findLineEnd,
  findLineStart,
  formFault,
  lineNumber,
  normaliseText,
  type UnplacedDiagnostic,
} from "./source-text.ts";
import { countYamlLines, hasSwallowedBody, isBlankLine, isKeyLine, isLeadingKeyLine } from "./yaml-lines.ts";

/** How many characters of frontmatter are read as YAML. */
export const MAX_FRONTMATTER = 65_536;

const HASH = 0x23;

export interface SplitFile {
  /** The whole text: no byte order mark, `\n` line breaks. */
  readonly text: string;
  /** The frontmatter without its fences; `undefined` if there is none. */
  readonly yaml: string | undefined;
  /** Where it starts in `text`. */
  readonly yamlStart: number;
  /** Whether a fence ends the frontmatter. */
  readonly isClosed: boolean;
  /** 1-based line of the file where `yaml` starts. */
  readonly yamlLine: number;
  /** Without surrounding blank lines. */
  readonly body: string;
  /** 1-based line of the file where `body` starts. */
  readonly bodyLine: number;
  readonly faults: readonly UnplacedDiagnostic[];
}

/** Offsets into the text; the fences are between the parts. */
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
  /** The body starts on the line of the fence. */
  readonly isGlued: boolean;
}

interface Closing extends Fence {
  /** Where the line of the fence starts. */
  readonly at: number;
}

export function splitFrontmatter(source: string): SplitFile {
  const faults: UnplacedDiagnostic[] = [];
  const text = normaliseText(source, faults);
  const opening = findOpening(text);
  if (opening === undefined) return cutWithoutFrontmatter(text, faults);
  if (opening.faults.length > 0) faults.push(...opening.faults);
  if (opening.closedBy === undefined) return cutAfterYaml(text, opening.yamlStart, faults);

  const closing = findClosing(text, opening, opening.closedBy);
  if (closing === undefined) return cutUnclosed(text, opening.yamlStart, faults);
  const second = findSecondBlock(text, opening, closing);
  if (second !== undefined) {
    faults.push(formFault("frontmatter.stray-fence", openingLine(text, opening.yamlStart)));
    return cutText(text, second, faults);
  }
  if (closing.isGlued) faults.push(formFault("frontmatter.glued-fence", lineNumber(text, closing.at)));
  const { at: yamlEnd, bodyStart } = closing;
  const cut = { yamlStart: opening.yamlStart, yamlEnd, bodyStart, isClosed: true };
  return cutText(text, opening.wrapper === undefined ? cut : unwrapBody(text, cut, opening.wrapper), faults);
}

/** A `.yaml` skill: the whole file, or the text between its `---` lines. */
export function splitYamlFile(source: string): SplitFile {
  const faults: UnplacedDiagnostic[] = [];
  const text = normaliseText(source, faults);
  const first = skipBlanks(text, 0);
  const yamlStart = isFence(text, first) ? nextLine(text, first) : 0;
  const closing = findClosing(text, { indent: "", yamlStart }, "---");
  const { at: yamlEnd, bodyStart } = closing ?? { at: text.length, bodyStart: text.length };
  return cutText(text, { yamlStart, yamlEnd, bodyStart, isClosed: false }, faults);
}

/**
 * For frontmatter that is not YAML: if its closing fence was forgotten and a rule in the body was taken for it, splits
 * the file again where the body starts.
 */
export function recutSwallowedBody(split: SplitFile): SplitFile | undefined {
  const { text, yaml, yamlStart, isClosed, faults } = split;
  if (yaml === undefined || !isClosed || !hasSwallowedBody(yaml.split("\n"))) return undefined;
  return cutUnclosed(text, yamlStart, [...faults]);
}

/** Jumps from one marker to the next, since most lines have none. */
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
    if (fence !== undefined) return { at, ...fence };
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

/** `---`, nothing or comments, `---`, and directly the real frontmatter, with or without its own opening. */
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

/** The code fence opened before the frontmatter ends right after it, or at the end of the file. */
function unwrapBody(text: string, cut: Cut, wrapper: string): Cut {
  const first = skipBlanks(text, cut.bodyStart);
  if (text.slice(first, findLineEnd(text, first)).trimEnd() === wrapper) {
    return { ...cut, bodyStart: nextLine(text, first) };
  }
  const end = text.trimEnd().length;
  const last = text.lastIndexOf("\n", end - 1) + 1;
  return text.slice(last, end) === wrapper && last >= cut.bodyStart ? { ...cut, bodyEnd: last } : cut;
}

function cutUnclosed(text: string, yamlStart: number, faults: UnplacedDiagnostic[]): SplitFile {
  faults.push(formFault("frontmatter.unclosed", openingLine(text, yamlStart)));
  return cutAfterYaml(text, yamlStart, faults);
}

/** The line before the frontmatter; it may be the last one without a line break. */
function openingLine(text: string, yamlStart: number): number {
  return lineNumber(text, yamlStart - 1);
}

/** The frontmatter ends where its lines stop looking like YAML, at a fence or not. */
function cutAfterYaml(text: string, yamlStart: number, faults: UnplacedDiagnostic[]): SplitFile {
  const count = countYamlLines(text.slice(yamlStart).split("\n"));
  let yamlEnd = yamlStart;
  for (let line = 0; line < count; line++) yamlEnd = nextLine(text, yamlEnd);
  const next = skipBlanks(text, yamlEnd);
  const fence = readFence(text, next, "---");
  if (fence?.isGlued) faults.push(formFault("frontmatter.glued-fence", lineNumber(text, next)));
  const bodyStart = fence?.bodyStart ?? yamlEnd;
  return cutText(text, { yamlStart, yamlEnd, bodyStart, isClosed: false }, faults);
}

function cutWithoutFrontmatter(text: string, faults: UnplacedDiagnostic[]): SplitFile {
  const nothing = { yamlStart: 0, yamlEnd: 0, bodyStart: 0, isClosed: false };
  faults.push({
    code: "frontmatter.missing",
    severity: "error",
    message: isBlankLine(text) ? "The file is empty." : "The file does not start with frontmatter.",
    line: 1,
    hint: "Start the file with a `---` line, then the keys, then a second `---` line, then the instructions. Every skill needs at least `description`.",
  });
  return { ...cutText(text, nothing, faults), yaml: undefined };
}

function cutText(text: string, cut: Cut, faults: readonly UnplacedDiagnostic[]): SplitFile {
  const { yamlStart, yamlEnd, bodyStart, isClosed } = cut;
  const yamlLine = lineNumber(text, yamlStart);
  // Only whole blank lines: the first line of the body keeps its indentation.
  const first = skipBlanks(text, bodyStart);
  const body = text.slice(Math.max(bodyStart, findLineStart(text, first)), cut.bodyEnd).trimEnd();
  const bodyLine = yamlLine + countLineEnds(text, yamlStart, body === "" ? bodyStart : first);
  const yaml = detach(text.slice(yamlStart, yamlEnd));
  return { text, yaml, yamlStart, isClosed, yamlLine, body, bodyLine, faults };
}

/** A copy: a slice would keep the whole file in memory while one of its values lives. */
function detach(slice: string): string {
  return ` ${slice}`.slice(1);
}

// Where the frontmatter starts, and what can be wrong with it: real files have blank lines, a comment or a code fence
// before it, or lack the opening fence. Everything tolerated is reported. Reads only the start of the text.

interface Opening {
  /** Where the first line after the opening fence starts. */
  readonly yamlStart: number;
  /** The line that closes the frontmatter; `undefined` if the opening is missing and so the end is open. */
  readonly closedBy: string | undefined;
  /** Spaces before the opening fence, which may also precede the closing one. */
  readonly indent: string;
  /** The backticks of the code fence around the frontmatter, or around the whole file. */
  readonly wrapper?: string;
  readonly faults: readonly UnplacedDiagnostic[];
}

const NO_FAULTS: readonly UnplacedDiagnostic[] = [];
const PLAIN: Opening = { yamlStart: 4, closedBy: "---", indent: "", faults: NO_FAULTS };
const NEWLINE = 0x0a;
const SPACE = 0x20;
const DELETE = 0x7f;
const BLANKS = /\s*/y;
const CODE_FENCE = /^(`{3,})[ \t]*\w*[ \t]*$/;

function findOpening(text: string): Opening | undefined {
  if (text.startsWith("---\n")) return PLAIN;
  const first = text.search(/\S/);
  if (first === -1) return undefined;
  const at = text.lastIndexOf("\n", first) + 1;
  return (
    openAtFence(text, at, first) ??
    openAfterComment(text, first) ??
    openInCodeFence(text, at) ??
    openWithoutFence(text, at)
  );
}

function openAtFence(text: string, at: number, first: number): Opening | undefined {
  if (!isFence(text, first)) return undefined;
  const faults = first > 0 ? [formFault("frontmatter.leading-blank", 1)] : NO_FAULTS;
  return { yamlStart: nextLine(text, first), closedBy: "---", indent: text.slice(at, first), faults };
}

/** Only if a key follows the fence: after a comment, `---` may also be a rule. */
function openAfterComment(text: string, first: number): Opening | undefined {
  let at = first;
  while (text.startsWith("<!--", at)) {
    const end = text.indexOf("-->", at + 4);
    if (end === -1) return undefined;
    at = skipBlanks(text, end + 3);
  }
  if (at === first || !isFence(text, at)) return undefined;
  const yamlStart = nextLine(text, at);
  if (!isKeyLine(lineAt(text, skipBlanks(text, yamlStart)))) return undefined;
  const faults = [formFault("frontmatter.leading-comment", lineNumber(text, first))];
  return { yamlStart, closedBy: "---", indent: "", faults };
}

/** A code block around the frontmatter or the whole file, with `---` inside or only the keys. */
function openInCodeFence(text: string, at: number): Opening | undefined {
  const wrapper = CODE_FENCE.exec(lineAt(text, at))?.[1];
  if (wrapper === undefined) return undefined;
  const inside = skipBlanks(text, nextLine(text, at));
  const faults = [formFault("frontmatter.code-fence", lineNumber(text, at))];
  if (isFence(text, inside)) {
    return { yamlStart: nextLine(text, inside), closedBy: "---", indent: "", wrapper, faults };
  }
  if (!isLeadingKeyLine(lineAt(text, inside))) return undefined;
  return { yamlStart: inside, closedBy: wrapper, indent: "", faults };
}

/** The file starts with keys, including `name` or `description`. */
function openWithoutFence(text: string, at: number): Opening | undefined {
  if (!isKeyLine(lineAt(text, at))) return undefined;
  const lines = text.slice(at).split("\n");
  if (!lines.slice(0, countYamlLines(lines)).some(isLeadingKeyLine)) return undefined;
  const faults = [formFault("frontmatter.no-opening", lineNumber(text, at))];
  return { yamlStart: at, closedBy: undefined, indent: "", faults };
}

/** Three dashes at `at`, and only spaces after them on the line. */
function isFence(text: string, at: number): boolean {
  return text.startsWith("---", at) && isBlankLine(text.slice(at + 3, findLineEnd(text, at)));
}

/** Where the next line starts, or the end of the text. */
function nextLine(text: string, at: number): number {
  return Math.min(findLineEnd(text, at) + 1, text.length);
}

/** The first offset from `at` that is neither blank nor a line break. */
function skipBlanks(text: string, at: number): number {
  let first = at;
  while (text.charCodeAt(first) === NEWLINE) first++;
  const code = text.charCodeAt(first);
  if (code > SPACE && code < DELETE) return first;
  BLANKS.lastIndex = first;
  BLANKS.test(text);
  return BLANKS.lastIndex;
}

function lineAt(text: string, at: number): string {
  return text.slice(at, findLineEnd(text, at));
}
