/** What evaluations tell apart: failed gradings, failed runs, earlier iterations. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerPolitely, createGreeter, EVALS, evaluate, readJson } from "../support/greeting-evals.ts";
import { skill } from "../support/world.ts";

test("[U7] what the grader could not decide counts neither for nor against the skill", async () => {
  const { benchmark, errors, iteration } = await evaluate(createGreeter(), (asked) =>
    asked.system.includes("metier-grader") ? "I would rather not." : answerPolitely(asked),
  );
  expect(errors).toBe(2);
  const [tested, bare] = benchmark.runs;
  expect(tested?.result).toMatchObject({ passed: 2, failed: 0, total: 2, pass_rate: 1, ungraded: 1 });
  expect(bare?.result).toMatchObject({ passed: 0, failed: 2, total: 2, pass_rate: 0, ungraded: 1 });
  expect(tested?.expectations[2]).toMatchObject({
    text: "The greeting is polite.",
    ungraded: true,
    evidence: expect.stringContaining("grader"),
  });
  expect(benchmark.run_summary.with_skill).toMatchObject({ pass_rate: { mean: 1 }, ungraded: 1 });
  const grading = readJson(iteration.path, "eval-greeting", "with_skill", "grading.json");
  expect(grading).toMatchObject({ summary: { total: 2, pass_rate: 1, ungraded: 1 } });
});

test("[U7] a run that failed has no pass rate, and nothing is compared with it", async () => {
  const { benchmark, errors } = await evaluate(createGreeter(), (asked) => {
    if (asked.system.includes("Always say Good day")) throw new Error("broken");
    return answerPolitely(asked);
  });
  expect(errors).toBe(1);
  expect(benchmark.runs[0]?.result).toMatchObject({ passed: 0, failed: 0, total: 0, errors: 1 });
  expect(benchmark.run_summary.delta).toBeUndefined();
});

test("[U7] results name the answer and the files, which are there", async () => {
  const { benchmark, iteration } = await evaluate(createGreeter(), answerPolitely, { runs: 2 });
  const paths = benchmark.runs.flatMap(({ outputs }) => outputs);
  expect(paths).toContain("eval-greeting/with_skill/run-2/outputs/answer.md");
  expect(paths).toContain("eval-greeting/with_skill/run-2/outputs/greeting.txt");
  for (const path of paths) expect(existsSync(join(iteration.path, path))).toBe(true);
});

test("[U7] an iteration is compared with the one before", async () => {
  const world = createGreeter(EVALS, "Say something.");
  const first = await evaluate(world);
  expect(first.benchmark.previous).toBeUndefined();
  world.write({ "skills/greet/SKILL.md": skill("greet", "", "Always say Good day.") });
  const second = await evaluate(world);
  expect(second.benchmark.previous).toMatchObject({
    iteration: 1,
    same_skill: false,
    same_model: true,
    pass_rate: { before: 0, after: 1 },
    evals_compared: 1,
    changed: [{ eval_id: "1", eval_name: "greeting", before: 0, after: 1 }],
  });
  const third = await evaluate(world);
  expect(third.benchmark.previous).toMatchObject({ iteration: 2, same_skill: true, changed: [] });
  world.write({ "greet-workspace/iteration-3/benchmark.json": "[]" });
  expect((await evaluate(world)).benchmark.previous).toMatchObject({ iteration: 2 });
});
