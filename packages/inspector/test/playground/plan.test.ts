import { expect, test } from "vitest";
import { budgetRange, readBudget } from "../../src/page/playground/budget.ts";
import { compareWishes, showLimits } from "../../src/page/playground/plan-lines.ts";
import { catalogAnswer, makeCatalogSkill } from "../support/answers.ts";

test("the slider ends where every skill is listed whole, and never below the usual budget", () => {
  expect(budgetRange([]).most).toBeGreaterThanOrEqual(4_000);
  expect(budgetRange(catalogAnswer.data).most).toBeGreaterThanOrEqual(4_000);
  const many = Array.from({ length: 10_000 }, () => makeCatalogSkill({ listingTokens: 100 }));
  expect(budgetRange(many).most).toBeGreaterThanOrEqual(1_000_000);
});

test("skills that models are not told of do not widen the slider", () => {
  const hidden = Array.from({ length: 10_000 }, () => makeCatalogSkill({ isForModels: false }));
  expect(budgetRange(hidden)).toEqual(budgetRange([]));
});

test("a budget from the address is held to the slider", () => {
  const range = { least: 50, most: 5_000, step: 50 };
  expect(["900", "1", "99999999", "x", undefined].map((given) => readBudget(given, range))).toEqual([
    900, 50, 5_000, 4_000, 4_000,
  ]);
});

test("what is declared stands beside what is granted", () => {
  const declared = { network: ["a.example", "b.example"], write: true };
  expect(
    compareWishes({ declared, granted: { network: ["a.example"], read: ["docs"], write: false } }),
  ).toEqual([
    { kind: "network", item: "a.example", isDeclared: true, isGranted: true },
    { kind: "network", item: "b.example", isDeclared: true, isGranted: false },
    { kind: "write", item: "true", isDeclared: true, isGranted: false },
    { kind: "read", item: "docs", isDeclared: false, isGranted: true },
  ]);
});

test("limits have names and units, and one that is not known yet is shown as it is", () => {
  expect(showLimits({ timeoutMs: 90_000, maxTokens: 20_000, maxCost: 0.5, maxNew: 3, other: "x" })).toEqual([
    ["Time", "at most 1 min 30 s"],
    ["Tokens", "at most 20,000"],
    ["Cost", "at most $0.50"],
    ["maxNew", "3"],
  ]);
});
