import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import type { TokenUsage } from "../../src/events/run-event.ts";
import { createBudget } from "../../src/run/run-limits.ts";

function tokens(inputTokens: number, outputTokens: number): TokenUsage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}

verifies(206, "usage and cost are summed, and a limit is reached when it is used up", () => {
  const budget = createBudget({ maxTokens: 30, maxCost: 1 });
  budget.add(tokens(10, 5), 0.25);
  expect(budget.usage).toEqual(tokens(10, 5));
  expect(budget.cost).toBe(0.25);
  expect(budget.reached()).toBeUndefined();
  budget.add(tokens(10, 5), 0.25);
  expect(budget.reached()).toEqual({ limit: "tokens", message: "used 30 of 30 tokens" });
});

verifies(206, "money is a limit of its own", () => {
  const budget = createBudget({ maxCost: 0.5 });
  budget.add(tokens(1_000_000, 0), 0.49);
  expect(budget.reached()).toBeUndefined();
  budget.add(tokens(1, 0), 0.02);
  expect(budget.reached()).toEqual({ limit: "cost", message: "spent $0.5100 of $0.5" });
});

verifies(206, "what a nested run spends counts for all its callers, and their limits hold for it", () => {
  const conversation = createBudget({ maxTokens: 20 });
  const run = createBudget({}, conversation);
  const nested = createBudget({ maxTokens: 1000 }, run);
  nested.add(tokens(15, 6));
  expect([nested, run, conversation].map(({ usage }) => usage.totalTokens)).toEqual([21, 21, 21]);
  expect(nested.reached()).toEqual({ limit: "tokens", message: "used 21 of 20 tokens" });
  expect(createBudget({}, conversation).reached()?.limit).toBe("tokens");
});

test("what a caller spends does not count for the runs it started", () => {
  const caller = createBudget();
  const nested = createBudget({ maxTokens: 1 }, caller);
  caller.add(tokens(5, 5), 1);
  expect(nested.usage).toEqual(tokens(0, 0));
  expect(nested.reached()).toBeUndefined();
});

test("without limits nothing is ever reached", () => {
  const budget = createBudget();
  budget.add(tokens(1e9, 1e9), 1e6);
  expect(budget.reached()).toBeUndefined();
});
