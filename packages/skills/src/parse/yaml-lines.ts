/** Frontmatter by its lines, without parsing YAML: what a line looks like, and which lines belong to which key. */

const KEY = /^(?:[\p{L}_][\p{L}\p{N}_./-]*|"[^"]*"|'[^']*')[ \t]*:(?=\s|$)/u;
const LOWER_CASE_KEY = /^[a-z][\w-]*:(?=\s|$)/;
const LEADING_KEY = /^(?:name|description)[ \t]*:(?=\s|$)/;
const HEADING = /^#{1,6}[ \t]/;
const LIST_ITEM = /^-(?=\s|$)/;
/** Indented, a comment, or the end of a bracketed list or map. */
const CONTINUES = /^[ \t#\]}]/;

/** `key:` or `key: value` at the start of the line. */
export function isKeyLine(line: string): boolean {
  return KEY.test(line);
}

/** A key may be quoted. */
export function withoutQuotes(key: string): string {
  return key.replace(/^(["'])(.*)\1$/, "$2");
}

/** `name:` or `description:`, which identify a frontmatter without its fence. */
export function isLeadingKeyLine(line: string): boolean {
  return LEADING_KEY.test(line);
}

export function isBlankLine(line: string): boolean {
  return line.trim() === "";
}

/**
 * How many lines, from the first, are unclosed frontmatter: keys, what is indented or listed below them, comments and
 * blank lines. It ends before a Markdown heading and before any other text.
 */
export function countYamlLines(lines: readonly string[]): number {
  let count = 0;
  let previous = "";
  let hasKey = false;
  for (const [index, line] of lines.entries()) {
    if (isBlankLine(line)) continue;
    if (HEADING.test(line)) {
      if (hasKey && isBlankLine(lines[index - 1] ?? "")) break;
      continue;
    }
    if (!continuesYaml(line, previous)) break;
    hasKey ||= isKeyLine(line);
    previous = line;
    count = index + 1;
  }
  return count;
}

function continuesYaml(line: string, previous: string): boolean {
  if (CONTINUES.test(line)) return true;
  const mayList = previous !== "" && (!isKeyLine(previous) || previous.trimEnd().endsWith(":"));
  return LIST_ITEM.test(line) ? mayList : isKeyLine(line);
}

/**
 * Whether the lines between two fences include the start of the body: a Markdown heading follows the keys, and no key
 * follows it.
 */
export function hasSwallowedBody(lines: readonly string[]): boolean {
  const count = countYamlLines(lines);
  const next = lines.findIndex((line, index) => index >= count && !isBlankLine(line));
  if (count === 0 || next === -1 || !HEADING.test(lines[next] ?? "")) return false;
  const last = lines.slice(next).findLast((line) => /^[^\s#-]/.test(line));
  return last === undefined || !LOWER_CASE_KEY.test(last);
}

export interface YamlEntry {
  /** The index of the line with the key. */
  readonly index: number;
  /** Without quotes. */
  readonly key: string;
  /** The correct form of the key, with its colon. */
  readonly head: string;
  /** What follows the colon on its line, trimmed. */
  readonly value: string;
  /** The column of the value, 1-based. */
  readonly column: number;
  readonly below: readonly string[];
  /** What was wrong with the key itself. */
  readonly keyFault?: string | undefined;
}

interface YamlEntries {
  readonly entries: readonly YamlEntry[];
  /** The index of the first line before all keys that is neither blank nor a comment. */
  readonly stray: number | undefined;
}

/** Keys that nobody writes at the start of a line in prose: only these are recognized when misspelled. */
const COMMON = "name|description|license|compatibility|metadata|allowed-tools|version|author|tags";
const UNSPACED = new RegExp(`^(${COMMON})([:：])(?=\\S)`);
const WIDE_COLON = new RegExp(`^(${COMMON})：`);
const INDENTED = new RegExp(`^ {1,3}(?=(?:${COMMON}):(?: |$))`);
const PLAIN_START = /^[^|>"'[{#&*!]/;

/**
 * Splits broken frontmatter into its top-level entries: `key:` at the left edge and the lines below it. Fixes what
 * keeps an intended key from being one.
 */
export function splitEntries(lines: readonly string[]): YamlEntries {
  const entries: YamlEntry[] = [];
  let below: string[] = [];
  let stray: number | undefined;
  for (const [index, line] of lines.entries()) {
    const entry = readEntry(line, index, entries.at(-1));
    if (entry !== undefined) {
      below = [];
      entries.push({ ...entry, below });
    } else if (entries.length > 0) {
      below.push(line);
    } else if (!isBlankLine(line) && !line.startsWith("#")) {
      stray ??= index;
    }
  }
  return { entries, stray };
}

function readEntry(line: string, index: number, previous: YamlEntry | undefined): YamlEntry | undefined {
  const indent = previous && PLAIN_START.test(previous.value) ? (INDENTED.exec(line)?.[0].length ?? 0) : 0;
  const head = KEY.exec(indent > 0 ? line.slice(indent) : line)?.[0];
  if (head !== undefined) {
    const keyFault = indent > 0 ? "is indented but belongs at the left edge" : undefined;
    return makeEntry(line, index, head, indent + head.length, keyFault);
  }
  const key = (UNSPACED.exec(line) ?? WIDE_COLON.exec(line))?.[1];
  if (key === undefined) return undefined;
  const isWide = line.charAt(key.length) === "：";
  const keyFault = isWide ? "ends in a full-width colon" : "has no space after its colon";
  return makeEntry(line, index, `${key}:`, key.length + 1, keyFault);
}

function makeEntry(line: string, index: number, head: string, after: number, keyFault?: string): YamlEntry {
  const rest = line.slice(after);
  return {
    index,
    key: withoutQuotes(head.replace(/[ \t]*:$/, "")),
    head,
    value: rest.trim(),
    column: after + rest.length - rest.trimStart().length + 1,
    below: [],
    keyFault,
  };
}
