/**
 * A piece of a skill's code, what it does in any language, and where its values come from. Rules ask for acts and
 * taints, and know no grammar.
 */
import type { Position } from "@metier/skills";

/** The last five have no grammar and are read line by line. */
export type CodeLanguage = "shell" | "python" | "javascript" | "powershell" | "ruby" | "perl" | "php" | "lua";

/**
 * `script`: a file. `block`: a code block in a document. `span`: code within a sentence. `dynamic`: !`…`, which runs
 * before the text is shown. `hook`: declared in the frontmatter.
 */
export type PartKind = "script" | "block" | "span" | "dynamic" | "hook";

export interface CodePart {
  readonly path: string;
  readonly language: CodeLanguage;
  readonly kind: PartKind;
  readonly text: string;
  /** 1-based line of the file where it starts. */
  readonly firstLine: number;
  /** For code within code: where the outer code is. */
  readonly within?: Position;
  /** The document says next to it that one must not do this. */
  readonly isWarning: boolean;
  /** The sentence around it says to run it. */
  readonly isToBeRun?: boolean;
  /** Only the taints of its output are needed; its acts are recorded elsewhere. */
  readonly isTrial?: true;
}

const finders = new WeakMap<CodePart, LineFinder>();

export function placeIn(part: CodePart, at: number): Position {
  if (part.within) return part.within;
  const find = finders.get(part) ?? createLineFinder(part.text, part.firstLine);
  finders.set(part, find);
  return find(at);
}

/** Code in a string of other code, placed where the outer one is. */
export function partWithin(part: CodePart, at: number, language: CodeLanguage, text: string): CodePart {
  return { ...part, language, text, within: placeIn(part, at) };
}

type LineFinder = (offset: number) => Position;

export function createLineFinder(text: string, firstLine = 1): LineFinder {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= findLineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: firstLine + low, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** Stands for an unknown part of a known text; no file contains it by accident. */
export const UNKNOWN = "\uFFFC";

export type ActKind =
  /** A shell program with its words. */
  | "command"
  /** Executes text or a file as code. `taints` are the code's. */
  | "run"
  /** Sends something to the network. `target` is the address, `taints` are those of the data. */
  | "send"
  /** Looks up a host name; the name itself can carry data. */
  | "look-up"
  | "fetch"
  | "read"
  | "write"
  | "delete";

export interface Act {
  readonly kind: ActKind;
  readonly part: CodePart;
  /** Its offset in the part's text. */
  readonly at: number;
  /** As it is written. */
  readonly seen: string;
  readonly taints: Taints;
  /** The path, address or host; for a `run`, the resolved name of what executes. */
  readonly target?: string;
  /** For a command: the program first, quotes removed, known variables filled in. */
  readonly words?: readonly string[];
  /** For a `write`: the written content, if known. For a `run`: the code, if known. */
  readonly content?: string | undefined;
  /** For a `run`: the code was built from pieces that hide it. */
  readonly isBuilt?: boolean;
  /** The name of the called function was itself built from pieces. */
  readonly isHidden?: boolean;
}

type TaintKind =
  /** The path of a credentials file, not read yet. */
  | "secret-path"
  /** The content of such a file. */
  | "secret"
  /** All environment variables. */
  | "environment"
  /** One variable named like a credential. */
  | "variable"
  /** Data from the network. */
  | "remote"
  /** Data decoded from base64, hexadecimal or another encoding. */
  | "decoded";

export type Taints = ReadonlySet<string>;

export const NO_TAINTS: Taints = new Set();

/** Enough to name; more would only grow. */
const MOST_MARKS = 24;

export function taint(kind: TaintKind, detail = ""): Taints {
  return new Set([detail === "" ? kind : `${kind} ${detail.slice(0, 200)}`]);
}

export function uniteTaints(...all: readonly Taints[]): Taints {
  const some = all.filter((taints) => taints.size > 0);
  const [first = NO_TAINTS, ...rest] = some;
  if (rest.length === 0) return first;
  return new Set([...new Set(some.flatMap((taints) => [...taints]))].slice(0, MOST_MARKS));
}

export function hasTaint(taints: Taints, ...kinds: readonly TaintKind[]): boolean {
  for (const mark of taints)
    if (kinds.some((kind) => mark === kind || mark.startsWith(`${kind} `))) return true;
  return false;
}

/** What carries the taint: paths, addresses, names. */
export function taintDetails(taints: Taints, kind: TaintKind): readonly string[] {
  return [...taints].filter((mark) => mark.startsWith(`${kind} `)).map((mark) => mark.slice(kind.length + 1));
}

export function withoutTaint(taints: Taints, ...kinds: readonly TaintKind[]): Taints {
  return new Set(
    [...taints].filter((mark) => !kinds.some((kind) => mark === kind || mark.startsWith(`${kind} `))),
  );
}
