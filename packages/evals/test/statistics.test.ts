import { expect, test } from "vitest";
import { describeSpread, difference, rate } from "../src/benchmark.ts";
import { splitQueries } from "../src/routing/evaluate-triggers.ts";
import { createSpending } from "../src/spending.ts";

test("the spread is that of a sample", () => {
  expect(describeSpread([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ mean: 5, stddev: 2.1381, min: 2, max: 9 });
  expect(describeSpread([3])).toEqual({ mean: 3, stddev: 0, min: 3, max: 3 });
  expect(describeSpread([])).toEqual({ mean: 0, stddev: 0, min: 0, max: 0 });
});

test("differences and rates are rounded, so that equal results look equal", () => {
  expect(difference(describeSpread([0.1 + 0.2]), describeSpread([0.3]))).toBe(0);
  expect(rate(1, 3)).toBe(0.3333);
  expect(rate(0, 0)).toBe(0);
});

const QUERIES = [
  ...Array.from({ length: 10 }, (_, index) => ({ query: `yes ${index}`, shouldTrigger: true })),
  ...Array.from({ length: 5 }, (_, index) => ({ query: `no ${index}`, shouldTrigger: false })),
];

test("both kinds of queries are split six to four", () => {
  const train = splitQueries(QUERIES, 0).filter(({ set }) => set === "train");
  expect(train.filter(({ shouldTrigger }) => shouldTrigger)).toHaveLength(6);
  expect(train.filter(({ shouldTrigger }) => !shouldTrigger)).toHaveLength(3);
});

test("the split follows the seed alone, not the order of the file", () => {
  const sets = (queries: typeof QUERIES, seed: number): Readonly<Record<string, string>> =>
    Object.fromEntries(splitQueries(queries, seed).map(({ query, set }) => [query, set]));
  expect(sets(QUERIES.toReversed(), 7)).toEqual(sets(QUERIES, 7));
  expect(sets(QUERIES, 8)).not.toEqual(sets(QUERIES, 7));
});

test("an evaluation stops when its tokens or its money are used up", () => {
  const answered = (tokens: number, cost?: number) =>
    ({
      type: "model-answered",
      usage: { inputTokens: tokens, outputTokens: 0, totalTokens: tokens },
      cost,
    }) as Parameters<ReturnType<typeof createSpending>["note"]>[0];
  const byTokens = createSpending({ maxTokens: 100 });
  byTokens.note(answered(60));
  expect(byTokens.signal.aborted).toBe(false);
  byTokens.note(answered(60));
  expect([byTokens.signal.aborted, byTokens.reached()]).toEqual([
    true,
    "Stopped: used 120 of 100 tokens of this evaluation.",
  ]);
  const byCost = createSpending({ maxCost: 1 });
  byCost.note(answered(1_000_000, 2));
  expect(byCost.reached()).toContain("$2.0000 of $1");
});
