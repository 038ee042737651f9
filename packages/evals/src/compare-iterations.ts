/** What changed since the last iteration: the pass rate of the tested skill, overall and for each eval. */

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fitShape, listShape, recordShape, type Shape, testedShape, textShape } from "@metier/base/shape";
import { readJsonFile } from "@metier/skills/formats";
import { describeSpread, rate } from "./benchmark.ts";
import type { Benchmark, IterationComparison } from "./evaluation.ts";
import type { IterationFolder } from "./evaluation-files.ts";

const numberShape = testedShape((value) => typeof value === "number", "a number");
const idShape = testedShape(
  (value): value is string | number => typeof value === "string" || typeof value === "number",
  "a text or a number",
);

/** The parts of a `benchmark.json` that are compared. */
interface KeptBenchmark {
  readonly metadata: {
    readonly executor_model: string;
    readonly timestamp: string;
    readonly skill_digest?: string | undefined;
  };
  readonly runs: readonly {
    readonly eval_id: string | number;
    readonly configuration: string;
    readonly result: { readonly passed: number; readonly failed: number };
  }[];
}

const keptShape: Shape<KeptBenchmark> = recordShape<KeptBenchmark>({
  metadata: recordShape<KeptBenchmark["metadata"]>(
    { executor_model: textShape, timestamp: textShape, skill_digest: textShape },
    ["skill_digest"],
  ),
  runs: listShape(
    recordShape<KeptBenchmark["runs"][number]>({
      eval_id: idShape,
      configuration: textShape,
      result: recordShape({ passed: numberShape, failed: numberShape }),
    }),
  ),
});

/** Absent for the first one, or if no earlier one can be read. */
export function compareWithEarlier(
  { path, number }: IterationFolder,
  benchmark: Benchmark,
): IterationComparison | undefined {
  for (let earlier = number - 1; earlier > 0; earlier--) {
    const file = join(dirname(path), `iteration-${earlier}`, "benchmark.json");
    const read = existsSync(file) ? readJsonFile(file) : undefined;
    const kept = read?.ok ? fitShape(keptShape, read.value.value) : undefined;
    if (kept) return compare(earlier, kept, benchmark);
  }
  return undefined;
}

function compare(iteration: number, before: KeptBenchmark, after: Benchmark): IterationComparison {
  const old = ratesByEval(before);
  const now = ratesByEval(after);
  const names = new Map(after.runs.map((run) => [String(run.eval_id), run.eval_name]));
  const both = [...now].flatMap(([id, rateNow]) => {
    const rateBefore = old.get(id);
    return rateBefore === undefined ? [] : [{ id, before: rateBefore, after: rateNow }];
  });
  return {
    iteration,
    timestamp: before.metadata.timestamp,
    same_skill: before.metadata.skill_digest === after.metadata.skill_digest,
    same_model: before.metadata.executor_model === after.metadata.executor_model,
    pass_rate: {
      before: describeSpread(both.map((entry) => entry.before)).mean,
      after: describeSpread(both.map((entry) => entry.after)).mean,
    },
    evals_compared: both.length,
    changed: both
      .filter((entry) => entry.before !== entry.after)
      .map(({ id, ...rates }) => ({ eval_id: id, eval_name: names.get(id) ?? id, ...rates })),
  };
}

/** For the skill under test; an eval without a decided assertion has no rate. */
function ratesByEval({ runs }: Pick<KeptBenchmark, "runs">): ReadonlyMap<string, number> {
  const own = runs.filter(
    ({ configuration, result }) => configuration === "with_skill" && result.passed + result.failed > 0,
  );
  const groups = Map.groupBy(own, ({ eval_id }) => String(eval_id));
  return new Map(
    [...groups].map(([id, group]) => {
      const rates = group.map(({ result }) => rate(result.passed, result.passed + result.failed));
      return [id, describeSpread(rates).mean] as const;
    }),
  );
}
