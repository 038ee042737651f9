/**
 * Where the frontmatter begins. Real files have blank lines, a comment or a code fence before it, or lack the
 * opening fence; whatever is tolerated is reported. Looks only at the beginning of the text.
 */
import type { Fault } from "./fault.ts";
import { codeFence, leadingBlank, leadingComment, missingOpening } from "./fence-faults.ts";
import { countLineEnds, findLineEnd } from "./text-position.ts";
import { countYamlLines, isBlankLine, isKeyLine, isLeadingKeyLine } from "./yaml-lines.ts";

export interface Opening {
  /** Where the first line after the opening fence begins. */
  readonly yamlStart: number;
  /** The line that closes the frontmatter; `undefined` when the opening is missing and so the end is open. */
  readonly closedBy: string | undefined;
  /** Blanks before the opening fence, which may stand before the closing one too. */
  readonly indent: string;
  /** The backticks of the code fence around the frontmatter, or around the whole file. */
  readonly wrapper?: string;
  readonly faults: readonly Fault[];
}

const NO_FAULTS: readonly Fault[] = [];
const PLAIN: Opening = { yamlStart: 4, closedBy: "---", indent: "", faults: NO_FAULTS };
const NEWLINE = 0x0a;
const SPACE = 0x20;
const DELETE = 0x7f;
const BLANKS = /\s*/y;
const CODE_FENCE = /^(`{3,})[ \t]*\w*[ \t]*$/;

export function findOpening(text: string): Opening | undefined {
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
  const faults = first > 0 ? [leadingBlank(1)] : NO_FAULTS;
  return { yamlStart: nextLine(text, first), closedBy: "---", indent: text.slice(at, first), faults };
}

/** Only when a key follows the fence: after a comment, `---` may as well be a rule. */
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
  return { yamlStart, closedBy: "---", indent: "", faults: [leadingComment(lineNumber(text, first))] };
}

/** A code block around the frontmatter or the whole file, with `---` inside or with the keys alone. */
function openInCodeFence(text: string, at: number): Opening | undefined {
  const wrapper = CODE_FENCE.exec(lineAt(text, at))?.[1];
  if (wrapper === undefined) return undefined;
  const inside = skipBlanks(text, nextLine(text, at));
  const faults = [codeFence(lineNumber(text, at))];
  if (isFence(text, inside)) {
    return { yamlStart: nextLine(text, inside), closedBy: "---", indent: "", wrapper, faults };
  }
  if (!isLeadingKeyLine(lineAt(text, inside))) return undefined;
  return { yamlStart: inside, closedBy: wrapper, indent: "", faults };
}

/** The file begins with keys, `name` or `description` among them. */
function openWithoutFence(text: string, at: number): Opening | undefined {
  if (!isKeyLine(lineAt(text, at))) return undefined;
  const lines = text.slice(at).split("\n");
  if (!lines.slice(0, countYamlLines(lines)).some(isLeadingKeyLine)) return undefined;
  return { yamlStart: at, closedBy: undefined, indent: "", faults: [missingOpening(lineNumber(text, at))] };
}

/** Three dashes at `at`, and nothing but blanks after them on the line. */
export function isFence(text: string, at: number): boolean {
  return text.startsWith("---", at) && isBlankLine(text.slice(at + 3, findLineEnd(text, at)));
}

/** Where the next line begins, or the end of the text. */
export function nextLine(text: string, at: number): number {
  return Math.min(findLineEnd(text, at) + 1, text.length);
}

/** The first offset from `at` that is neither blank nor line end. */
export function skipBlanks(text: string, at: number): number {
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

function lineNumber(text: string, at: number): number {
  return countLineEnds(text, 0, at) + 1;
}
