/**
 * Where a value comes from, as far as one file shows: a set of marks that values carry along while they are assigned,
 * joined and passed on. A mark is a kind, and what exactly it was: `secret ~/.ssh/id_rsa`, `remote https://…`, `decoded`.
 */
const TAINT_KINDS = [
  /** The path of a file with credentials; nothing was read yet. */
  "secret-path",
  /** The content of such a file. */
  "secret",
  /** All variables of the environment. */
  "environment",
  /** One variable whose name says that it is a credential. */
  "variable",
  /** What came over the network. */
  "remote",
  /** What was written in base64, hexadecimal or another disguise. */
  "decoded",
] as const;
export type TaintKind = (typeof TAINT_KINDS)[number];

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
