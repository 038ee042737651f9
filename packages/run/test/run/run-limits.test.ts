import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chooseLimits, createBudget, createStop, type RunLimits } from "../../src/run/run-limits.ts";

const LIMITS: RunLimits = { maxIterations: 10, timeoutMs: 1000, maxOutputBytes: 10 };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("the switch that stops a run", () => {
  test("is thrown by the clock, which names the limit", () => {
    const stop = createStop(LIMITS, createBudget(), undefined);
    vi.advanceTimersByTime(999);
    expect(stop.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(stop.signal.aborted).toBe(true);
    expect(stop.reached()).toEqual({ limit: "time", message: "timed out after 1 s" });
    expect(stop.cancelled).toBe(false);
  });

  test("does not go off at once for a time that is longer than a timer takes", () => {
    const stop = createStop({ ...LIMITS, timeoutMs: 1e12 }, createBudget(), undefined);
    vi.advanceTimersByTime(1000);
    expect(stop.signal.aborted).toBe(false);
    stop.end();
  });

  test("is not thrown any more once the run has ended", () => {
    const stop = createStop(LIMITS, createBudget(), undefined);
    stop.end();
    vi.advanceTimersByTime(5000);
    expect(stop.signal.aborted).toBe(false);
    expect(stop.reached()).toBeUndefined();
  });

  test("is thrown by more text than allowed, counted in bytes", () => {
    const stop = createStop(LIMITS, createBudget(), undefined);
    stop.onOutput("ééééé");
    expect(stop.signal.aborted).toBe(false);
    stop.onOutput("x");
    expect(stop.signal.aborted).toBe(true);
    expect(stop.reached()).toEqual({ limit: "output", message: "the model wrote more than 10 bytes" });
    stop.end();
  });

  test("is thrown by the caller, which is no limit", () => {
    const caller = new AbortController();
    const stop = createStop(LIMITS, createBudget(), caller.signal);
    expect(stop.cancelled).toBe(false);
    caller.abort();
    expect(stop.signal.aborted).toBe(true);
    expect(stop.cancelled).toBe(true);
    expect(stop.reached()).toBeUndefined();
    stop.end();
  });

  test("names the first limit, also when others and the caller follow", () => {
    const caller = new AbortController();
    const stop = createStop(LIMITS, createBudget(), caller.signal);
    stop.onOutput("far more than ten bytes");
    vi.advanceTimersByTime(2000);
    caller.abort();
    expect(stop.reached()?.limit).toBe("output");
    expect(stop.cancelled).toBe(false);
  });

  test("says when the budget is used up, without cutting the step off", () => {
    const budget = createBudget({ maxTokens: 5 });
    const stop = createStop(LIMITS, budget, undefined);
    budget.add({ inputTokens: 3, outputTokens: 2, totalTokens: 5 });
    expect(stop.reached()?.limit).toBe("tokens");
    expect(stop.signal.aborted).toBe(false);
    stop.end();
  });
});

describe("the limits of a run", () => {
  const config = {
    runs: { maxIterations: 10, timeoutSeconds: 1, maxOutputBytes: 10, maxDepth: 3, outputFilter: "mark" },
    policyRuns: {},
  } as const;

  test("are refused where they could never be reached", () => {
    for (const maxIterations of [0, -1, Number.NaN]) {
      expect(() => chooseLimits(config, { maxIterations })).toThrow("`maxIterations`");
    }
  });

  test("stay as configured where a caller says nothing", () => {
    const unsaid = { maxIterations: undefined } as unknown as Partial<RunLimits>;
    expect(chooseLimits(config, unsaid)).toMatchObject({ maxIterations: 10 });
  });
});
