/**
 * A piece of code in a skill, what it does whatever language it is written in, and where its values come from: rules ask
 * for acts and marks, and know no grammar.
 */
import type { Position } from "@metier/skills";

/** The last five have no grammar here and are read line by line. */
export type CodeLanguage = "shell" | "python" | "javascript" | "powershell" | "ruby" | "perl" | "php" | "lua";

/**
 * `script`: a file. `block`: a code block of a document. `span`: code within a sentence. `dynamic`: !`…`, which runs
 * before the text is shown. `hook`: declared in the frontmatter.
 */
export type PartKind = "script" | "block" | "span" | "dynamic" | "hook";

export interface CodePart {
  readonly path: string;
  readonly language: CodeLanguage;
  readonly kind: PartKind;
  readonly text: string;
  /** 1-based line of the file on which it begins. */
  readonly firstLine: number;
  /** Of code within code: where the outer code stands. */
  readonly within?: Position;
  /** The document says next to it that it is what one must not do. */
  readonly isWarning: boolean;
  /** The sentence around it says to run it. */
  readonly isToBeRun?: boolean;
  /** Only the marks of its output are asked for; what it does was or will be noted another time. */
  readonly isTrial?: true;
}

const finders = new WeakMap<CodePart, LineFinder>();

export function placeIn(part: CodePart, at: number): Position {
  if (part.within) return part.within;
  const find = finders.get(part) ?? createLineFinder(part.text, part.firstLine);
  finders.set(part, find);
  return find(at);
}

/** Code in a text of code, placed where the outer one stands. */
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

/** Stands for what is not known in a text that is known otherwise; no file contains it by accident. */
export const UNKNOWN = "\uFFFC";

export type ActKind =
  /** A program of the shell with its words. */
  | "command"
  /** Text, or a file, is executed as code. `taints` are those of the code. */
  | "run"
  /** Something goes to the network. `target` is the address, `taints` are those of what is sent. */
  | "send"
  /** A host's name is looked up; the name itself can carry data. */
  | "look-up"
  | "fetch"
  | "read"
  | "write"
  | "delete";

export interface Act {
  readonly kind: ActKind;
  readonly part: CodePart;
  /** Where it begins in the text of the part. */
  readonly at: number;
  /** As it is written. */
  readonly seen: string;
  readonly taints: Taints;
  /** The path, address or host; of a `run`, the resolved name of what executes. */
  readonly target?: string;
  /** Of a command: the program first, quotes removed, variables put in where they are known. */
  readonly words?: readonly string[];
  /** Of a `write`: what is written, where it is known. Of a `run`: the code, where it is known. */
  readonly content?: string | undefined;
  /** Of a `run`: the code was put together from pieces that hide what it is. */
  readonly isBuilt?: boolean;
  /** The name of what is called was itself put together. */
  readonly isHidden?: boolean;
}

type TaintKind =
  /** The path of a file with credentials; nothing was read yet. */
  | "secret-path"
  /** The content of such a file. */
  | "secret"
  /** All variables of the environment. */
  | "environment"
  /** One variable whose name says that it is a credential. */
  | "variable"
  /** What came over the network. */
  | "remote"
  /** What was written in base64, hexadecimal or another disguise. */
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

/** What exactly carries the mark: paths, addresses, names. */
export function taintDetails(taints: Taints, kind: TaintKind): readonly string[] {
  return [...taints].filter((mark) => mark.startsWith(`${kind} `)).map((mark) => mark.slice(kind.length + 1));
}

export function withoutTaint(taints: Taints, ...kinds: readonly TaintKind[]): Taints {
  return new Set(
    [...taints].filter((mark) => !kinds.some((kind) => mark === kind || mark.startsWith(`${kind} `))),
  );
}
