/**
 * Broken frontmatter as its top-level entries, by lines alone: `key:` at the left edge and the lines below it.
 * What keeps a line from being a key although it is meant as one is put right here.
 */
import { isBlankLine, matchKey } from "./yaml-lines.ts";

export interface YamlEntry {
  /** The index of the line with the key. */
  readonly index: number;
  /** Without quotes. */
  readonly key: string;
  /** The key as it is to be written, with its colon. */
  readonly head: string;
  /** What follows the colon on its line, without blanks around it. */
  readonly value: string;
  /** The column of the value, 1-based. */
  readonly column: number;
  readonly below: readonly string[];
  /** What was wrong about the key itself. */
  readonly keyFault?: string;
}

export interface YamlEntries {
  readonly entries: readonly YamlEntry[];
  /** The index of the first line before all keys that is neither blank nor a comment. */
  readonly stray: number | undefined;
}

/** Keys that nobody writes into prose at the beginning of a line: only these are recognised when written wrongly. */
const COMMON = "name|description|license|compatibility|metadata|allowed-tools|version|author|tags";
const UNSPACED = new RegExp(`^(${COMMON})([:：])(?=\\S)`);
const WIDE_COLON = new RegExp(`^(${COMMON})：`);
const INDENTED = new RegExp(`^ {1,3}(?=(?:${COMMON}):(?: |$))`);
const PLAIN_START = /^[^|>"'[{#&*!]/;

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
  const head = matchKey(indent > 0 ? line.slice(indent) : line);
  if (head !== undefined) {
    const keyFault = indent > 0 ? "is indented although it belongs to the left edge" : undefined;
    return makeEntry(line, index, head, indent + head.length, keyFault);
  }
  const key = (UNSPACED.exec(line) ?? WIDE_COLON.exec(line))?.[1];
  if (key === undefined) return undefined;
  const isWide = line.charAt(key.length) === "：";
  return makeEntry(
    line,
    index,
    `${key}:`,
    key.length + 1,
    isWide ? "ends in a wide colon" : "lacks the blank after its colon",
  );
}

function makeEntry(line: string, index: number, head: string, after: number, keyFault?: string): YamlEntry {
  const rest = line.slice(after);
  return {
    index,
    key: head.replace(/[ \t]*:$/, "").replace(/^(["'])(.*)\1$/, "$2"),
    head,
    value: rest.trim(),
    column: after + rest.length - rest.trimStart().length + 1,
    below: [],
    ...(keyFault !== undefined && { keyFault }),
  };
}
