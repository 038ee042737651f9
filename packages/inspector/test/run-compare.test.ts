/** Two runs, step beside step. */
import type { Json, JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { alignSteps, differencesOf, isOtherContent } from "../src/page/run/compare-steps.ts";
import { buildSteps, type RunStep } from "../src/page/run/steps.ts";
import { longRun, RUN_EVENTS, text, usage, writeEvents } from "./support/answers-runs.ts";

/** One step for each entry: the tools it calls, and what it says. */
function runWith(
  ...steps: readonly (readonly [tools: readonly string[], said: string])[]
): readonly RunStep[] {
  const events = steps.map(
    ([tools, said], index): readonly [number, JsonObject & { readonly type: string }] => {
      const calls = tools.map(
        (tool): Json => ({ type: "tool-call", callId: `${index} ${tool}`, tool, input: {} }),
      );
      return [
        10,
        { type: "model-answered", step: index + 1, parts: [text(said), ...calls], usage: usage(1, 1) },
      ];
    },
  );
  return buildSteps(writeEvents("r", events));
}

function numbers(
  left: readonly RunStep[],
  right: readonly RunStep[],
): readonly (readonly (number | undefined)[])[] {
  return alignSteps(left, right).map((pair) => [pair.left?.number, pair.right?.number]);
}

test("a step that one run has more stands alone, and those behind it beside their own", () => {
  const left = runWith([["bash"], "a"], [["read_file"], "b"], [[], "done"]);
  const right = runWith([["bash"], "a"], [["web_search"], "x"], [["read_file"], "b"], [[], "done"]);
  expect(numbers(left, right)).toEqual([
    [1, 1],
    [undefined, 2],
    [2, 3],
    [3, 4],
  ]);
});

test("runs without anything alike still have all their steps, each once", () => {
  const pairs = alignSteps(runWith([["a"], "1"], [["b"], "2"]), runWith([["c"], "3"]));
  expect(pairs.filter(({ left }) => left)).toHaveLength(2);
  expect(pairs.filter(({ right }) => right)).toHaveLength(1);
  expect(alignSteps([], [])).toEqual([]);
});

test("the same run twice differs in nothing", () => {
  const steps = buildSteps(RUN_EVENTS);
  for (const pair of alignSteps(steps, buildSteps(RUN_EVENTS))) expect([...differencesOf(pair)]).toEqual([]);
});

test("what is different is named; numbers alone do not make a step another one", () => {
  const one = runWith([["bash"], "a"])[0];
  const other = runWith([["bash"], "b"])[0];
  expect([...differencesOf({ left: one, right: other })]).toEqual(["answer"]);
  if (!one) throw new Error("no step");
  const dearer = { ...one, cost: 1 };
  const differences = differencesOf({ left: one, right: dearer });
  expect([...differences]).toEqual(["cost"]);
  expect(isOtherContent(differences)).toBe(false);
  expect(isOtherContent(differencesOf({ left: one }))).toBe(true);
});

test("two long runs are aligned, however long", () => {
  const steps = buildSteps(longRun(700).events);
  expect(alignSteps(steps, steps.slice(1))).toHaveLength(steps.length);
});
