/** Two runs side by side: which steps match, and how they differ. Pure. */
import type { RunStep } from "./steps.ts";
import { workedMs } from "./steps.ts";

export interface StepPair {
  /** Absent if only the other run has a step here. */
  readonly left?: RunStep | undefined;
  readonly right?: RunStep | undefined;
}

/** Above this number of cells, alignment takes too long, and steps are matched by number. */
const MOST_CELLS = 400_000;
const GAP = -1;

/** In order, so that as many steps as possible are next to one that used the same tools. */
export function alignSteps(left: readonly RunStep[], right: readonly RunStep[]): readonly StepPair[] {
  if (left.length * right.length > MOST_CELLS) return pairByNumber(left, right);
  const width = right.length + 1;
  const scores = new Float64Array((left.length + 1) * width);
  const at = (row: number, column: number): number => scores[row * width + column] ?? 0;
  for (let row = left.length; row >= 0; row--) {
    for (let column = right.length; column >= 0; column--) {
      scores[row * width + column] = Math.max(
        row < left.length ? at(row + 1, column) + GAP : Number.NEGATIVE_INFINITY,
        column < right.length ? at(row, column + 1) + GAP : Number.NEGATIVE_INFINITY,
        row < left.length && column < right.length
          ? at(row + 1, column + 1) + likeness(left[row], right[column])
          : Number.NEGATIVE_INFINITY,
        row === left.length && column === right.length ? 0 : Number.NEGATIVE_INFINITY,
      );
    }
  }
  return readPairs(left, right, at);
}

function readPairs(
  left: readonly RunStep[],
  right: readonly RunStep[],
  at: (row: number, column: number) => number,
): readonly StepPair[] {
  const pairs: StepPair[] = [];
  let [row, column] = [0, 0];
  while (row < left.length || column < right.length) {
    const score = at(row, column);
    if (
      row < left.length &&
      column < right.length &&
      score === at(row + 1, column + 1) + likeness(left[row], right[column])
    ) {
      pairs.push({ left: left[row++], right: right[column++] });
    } else if (row < left.length && score === at(row + 1, column) + GAP) pairs.push({ left: left[row++] });
    else pairs.push({ right: right[column++] });
  }
  return pairs;
}

function likeness(left: RunStep | undefined, right: RunStep | undefined): number {
  if (!left || !right) return Number.NEGATIVE_INFINITY;
  const [one, other] = [toolNames(left), toolNames(right)];
  if (one.join() === other.join()) return left.text === right.text ? 3 : 2;
  return one.some((tool) => other.includes(tool)) ? 1 : -1;
}

function pairByNumber(left: readonly RunStep[], right: readonly RunStep[]): readonly StepPair[] {
  const count = Math.max(left.length, right.length);
  return Array.from({ length: count }, (_, index) => ({ left: left[index], right: right[index] }));
}

export const COMPARED = ["tools", "input", "output", "answer", "tokens", "cost", "time"] as const;
export type Compared = (typeof COMPARED)[number];
/** What a run did; the other fields are amounts, which nearly always differ. */
const CONTENT: readonly Compared[] = ["tools", "input", "output", "answer"];

/** For durations: a difference of this share counts. */
const NOTABLE = 1.2;
const NOTABLE_MS = 100;

/** What differs; for a step without a counterpart, everything it has. */
export function differencesOf({ left, right }: StepPair): ReadonlySet<Compared> {
  if (!left || !right) return new Set(CONTENT);
  const isDifferent: Readonly<Record<Compared, boolean>> = {
    tools: toolNames(left).join() !== toolNames(right).join(),
    input: stepInput(left) !== stepInput(right),
    output: stepOutput(left) !== stepOutput(right),
    answer: left.text !== right.text,
    tokens: left.usage?.totalTokens !== right.usage?.totalTokens,
    cost: left.cost !== right.cost,
    time: isOtherTime(workedMs(left), workedMs(right)),
  };
  return new Set(COMPARED.filter((name) => isDifferent[name]));
}

function isOtherTime(one: number, other: number): boolean {
  const [less, more] = one < other ? [one, other] : [other, one];
  return more - less > NOTABLE_MS && more > less * NOTABLE;
}

export function isOtherContent(differences: ReadonlySet<Compared>): boolean {
  return CONTENT.some((name) => differences.has(name));
}

export function toolNames(step: RunStep): readonly string[] {
  return step.calls.map(({ tool }) => tool);
}

export function stepInput({ calls }: RunStep): string {
  return calls.map(({ tool, input }) => `${tool} ${showInput(input)}`).join("\n");
}

/** Texts as they are, so that their lines can be compared. */
function showInput(input: unknown): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return JSON.stringify(input) ?? "";
  return Object.entries(input)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}

export function stepOutput({ calls }: RunStep): string {
  return calls.map(({ output = "" }) => output).join("\n");
}
