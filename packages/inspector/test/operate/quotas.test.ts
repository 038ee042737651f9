/** Quotas as people write and read them, and days of usage for a plot. */
import { expect, test } from "vitest";
import { describeLimits, readLimits, toneOf, writeLimits } from "../../src/page/operate/quota-fields.ts";
import { fillDays } from "../../src/page/operate/usage-days.ts";

const NOTHING = writeLimits({});

test("what is written is read again, in the units of people", () => {
  const limits = { concurrentRuns: 5, costPerDay: 2.5, storageBytes: 1_572_864, tokensPerDay: 1_000_000 };
  expect(writeLimits(limits)).toMatchObject({ concurrentRuns: "5", storageBytes: "1.5", openRuns: "" });
  expect(readLimits(writeLimits(limits))).toEqual({ limits, errors: {} });
});

test("an empty field is no limit, a zero is one", () => {
  expect(readLimits({ ...NOTHING, startsPerMinute: "0", tokensPerDay: " 1,000 " })).toEqual({
    limits: { startsPerMinute: 0, tokensPerDay: 1000 },
    errors: {},
  });
});

test.each(["-1", "1.5", "ten", "1e3", "9".repeat(20), "<b>"])("`%s` is no number of runs", (text) => {
  const { limits, errors } = readLimits({ ...NOTHING, openRuns: text });
  expect(limits).toEqual({});
  expect(errors.openRuns).toMatch(/whole number/);
});

test("limits are said in words, and a bar warns before it is full", () => {
  expect(describeLimits({})).toBe("No limits");
  expect(describeLimits({ concurrentRuns: 1200, storageBytes: 1024 })).toBe(
    "Runs at the same time: 1,200 · Storage: 1.0 KB",
  );
  expect([toneOf(1, 10), toneOf(8, 10), toneOf(10, 10), toneOf(0, 0)]).toEqual([
    "accent",
    "warn",
    "bad",
    "bad",
  ]);
});

test("days without a run have their place between those with one", () => {
  const sum = (key: string, runs: number) => ({
    key,
    runs,
    inputTokens: 1,
    outputTokens: 1,
    totalTokens: 2,
    cost: 0,
    runsWithoutCost: 0,
    activeMs: 5,
  });
  const days = fillDays([sum("2026-03-01", 2), sum("2026-02-27", 1)]);
  expect(days.map(({ key, runs }) => [key, runs])).toEqual([
    ["2026-02-27", 1],
    ["2026-02-28", 0],
    ["2026-03-01", 2],
  ]);
  expect(fillDays([])).toEqual([]);
});
