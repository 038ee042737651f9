/** What turns one text into another, line by line, with the fewest changes (Myers' algorithm), as long as these are few. */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Each step costs the memory of its number; texts that differ more are replaced as a whole. */
const MOST_STEPS = 500;

export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const start = commonLength(before, after, (lines, index) => lines[index]);
  const rest = Math.min(before.length, after.length) - start;
  const end = Math.min(
    rest,
    commonLength(before, after, (lines, index) => lines[lines.length - 1 - index]),
  );
  const middle = diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)];
}

function commonLength(
  a: readonly string[],
  b: readonly string[],
  at: (lines: readonly string[], index: number) => string | undefined,
): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && at(a, length) === at(b, length)) length += 1;
  return length;
}

function diffMiddle(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  const replaced = [...before.map(removed), ...after.map(added)];
  if (before.length === 0 || after.length === 0) return replaced;
  const trace = findPath(before, after);
  return trace === undefined ? replaced : walkBack(before, after, trace);
}

/** For each number of changes, how far every diagonal reaches; `undefined` when too many are needed. */
function findPath(before: readonly string[], after: readonly string[]): readonly Reach[] | undefined {
  const trace: Reach[] = [];
  let reach: Reach = new Map([[1, 0]]);
  for (let steps = 0; steps <= MOST_STEPS; steps++) {
    trace.push(reach);
    const next: Reach = new Map();
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      let x = comesFromAbove(reach, diagonal, steps) ? at(reach, diagonal + 1) : at(reach, diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length) return trace;
    }
    reach = next;
  }
  return undefined;
}

type Reach = Map<number, number>;

function at(reach: Reach, diagonal: number): number {
  return reach.get(diagonal) ?? -1;
}

/** Whether the best way to this diagonal adds a line; otherwise it removes one. */
function comesFromAbove(reach: Reach, diagonal: number, steps: number): boolean {
  return diagonal === -steps || (diagonal !== steps && at(reach, diagonal - 1) < at(reach, diagonal + 1));
}

function walkBack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly Reach[],
): readonly DiffLine[] {
  const lines: DiffLine[] = [];
  let x = before.length;
  let y = after.length;
  const stepBack = (toX: number, toY: number): void => {
    while (x > toX && y > toY) {
      x -= 1;
      y -= 1;
      lines.push(same(before[x] ?? ""));
    }
  };
  for (let steps = trace.length - 1; steps > 0; steps--) {
    const reach = trace[steps] ?? new Map();
    const diagonal = x - y;
    const isAdded = comesFromAbove(reach, diagonal, steps);
    const from = isAdded ? diagonal + 1 : diagonal - 1;
    const fromX = at(reach, from);
    stepBack(isAdded ? fromX : fromX + 1, isAdded ? fromX - from + 1 : fromX - from);
    if (isAdded) lines.push(added(after[--y] ?? ""));
    else lines.push(removed(before[--x] ?? ""));
  }
  stepBack(0, 0);
  return lines.reverse();
}

const same = (text: string): DiffLine => ({ kind: "same", text });
const added = (text: string): DiffLine => ({ kind: "added", text });
const removed = (text: string): DiffLine => ({ kind: "removed", text });
