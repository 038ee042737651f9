/** Reports show what skills, evals and models wrote: none of it may act in a browser. */
import type { EvalCase } from "@metier/skills/formats";
import { expect, test } from "vitest";
import { buildBenchmark, type GradedRun } from "../src/benchmark.ts";
import type { BenchmarkMetadata } from "../src/evaluation.ts";
import { renderEvalReport, renderRoutingReport, renderTriggerReport } from "../src/report/reports.ts";

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\u202e</style></title>`;

const METADATA: BenchmarkMetadata = {
  skill_name: HOSTILE,
  skill_path: HOSTILE,
  executor_model: HOSTILE,
  analyzer_model: HOSTILE,
  timestamp: "2026-01-01T00:00:00.000Z",
  evals_run: ["1"],
  runs_per_configuration: 1,
  replayed: false,
};

const CASE: EvalCase = {
  id: HOSTILE,
  name: HOSTILE,
  folder: "eval-1",
  prompt: HOSTILE,
  expectedOutput: HOSTILE,
  files: [],
  assertions: [{ text: HOSTILE, check: { kind: "model" } }],
};

function run(arm: GradedRun["arm"], passed: boolean): GradedRun {
  return {
    evalCase: CASE,
    arm,
    number: 1,
    run: {
      answer: HOSTILE,
      files: [],
      model: HOSTILE,
      tokens: 100,
      durationMs: 1500,
      toolCalls: { [HOSTILE]: 2 },
      denied: [{ tool: HOSTILE, reason: HOSTILE }],
      isStopped: false,
    },
    graded: [{ text: HOSTILE, passed, evidence: HOSTILE }],
    outputs: [`eval-1/${arm}/outputs/answer.md`, `eval-1/${arm}/outputs/${HOSTILE}`],
  };
}

const BENCHMARK = buildBenchmark(
  METADATA,
  ["with_skill", "without_skill"],
  [run("with_skill", true), run("without_skill", false)],
);

const PAGES = {
  evals: () => renderEvalReport(BENCHMARK, [CASE]),
  triggers: () =>
    renderTriggerReport({
      skill_name: HOSTILE,
      model: HOSTILE,
      runs_per_query: 1,
      threshold: 0.5,
      seed: 0,
      replayed: true,
      used: { tokens: 120, cost: 0.01 },
      summary: {
        train: { passed: 1, total: 1, pass_rate: 1 },
        validation: { passed: 0, total: 0, pass_rate: 0 },
        all: { passed: 1, total: 1, pass_rate: 1 },
      },
      queries: [
        {
          query: HOSTILE,
          should_trigger: true,
          set: "train",
          runs: 1,
          triggered: 1,
          trigger_rate: 1,
          passed: true,
          instead: { [HOSTILE]: 1 },
          errors: [HOSTILE],
        },
      ],
      errors: 1,
      cancelled: false,
    }),
  routing: () =>
    renderRoutingReport({
      skills: 2,
      descriptions: {
        names: [HOSTILE, "b"],
        matrix: [
          [1, 0.5],
          [0.5, 1],
        ],
        pairs: [
          {
            skills: [HOSTILE, "b"],
            verdict: "confusable",
            confusion: 0.5,
            similarity: 0.5,
            shared: [HOSTILE],
            suggestion: HOSTILE,
          },
        ],
      },
      search: {
        passed: 0,
        total: 1,
        pass_rate: 0,
        confusions: [],
        queries: [{ query: HOSTILE, expected: HOSTILE, chosen: HOSTILE, passed: false }],
      },
      errors: [],
      cancelled: false,
    }),
} as const;

test.each(Object.entries(PAGES))("in the report of %s nothing that others wrote is markup", (_, render) => {
  const page = render();
  const tags = new Set([...page.matchAll(/<\/?([a-z][a-z0-9]*)/g)].map(([, name]) => name));
  expect(
    [...tags].filter((name) => ["script", "img", "iframe", "link", "object"].includes(name ?? "")),
  ).toEqual([]);
  expect(page.match(/<\/style>|<\/title>/g)).toEqual(["</title>", "</style>"]);
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
  expect(page).not.toContain("\u202e");
});

test.each(Object.entries(PAGES))("the report of %s loads nothing and runs nothing", (_, render) => {
  const page = render();
  expect(page).toContain("default-src &apos;none&apos;");
  expect(page).not.toMatch(/(?:src|href)="(?!#|\.\/eval-1\/)/);
  expect(page).not.toMatch(/url\(|@import/);
  expect(page.replace(/"[^"]*"/g, "")).not.toMatch(/<[^>]*\son[a-z]+=/);
});

test("plots say in words what they show, and tables hold the same numbers", () => {
  const page = PAGES.evals();
  expect(page).toMatch(/<svg [^>]*role="img" aria-label="Pass rate of each eval\. [^"]*: 100 % and 0 %"/);
  expect(page).toMatch(/<th scope="row">Pass rate<\/th>[\s\S]*100 %[\s\S]*0 %[\s\S]*\+100 %/);
  expect(page).toContain("@media (prefers-color-scheme: dark)");
  expect(page).toContain('<a class="skip" href="#main">');
});

test("a benchmark has the form that other tools read", () => {
  expect(BENCHMARK.run_summary).toEqual({
    with_skill: {
      pass_rate: { mean: 1, stddev: 0, min: 1, max: 1 },
      time_seconds: { mean: 1.5, stddev: 0, min: 1.5, max: 1.5 },
      tokens: { mean: 100, stddev: 0, min: 100, max: 100 },
    },
    without_skill: {
      pass_rate: { mean: 0, stddev: 0, min: 0, max: 0 },
      time_seconds: { mean: 1.5, stddev: 0, min: 1.5, max: 1.5 },
      tokens: { mean: 100, stddev: 0, min: 100, max: 100 },
    },
    delta: { pass_rate: 1, time_seconds: 0, tokens: 0 },
  });
  expect(BENCHMARK.runs[0]).toMatchObject({
    configuration: "with_skill",
    run_number: 1,
    result: {
      pass_rate: 1,
      passed: 1,
      failed: 0,
      total: 1,
      time_seconds: 1.5,
      tokens: 100,
      tool_calls: 2,
      errors: 0,
    },
  });
});

test("[U7] long labels are whole in the plot", () => {
  const name = "A label that is much longer than the room beside the bars, and ends in the word cormorant";
  const named = { ...run("with_skill", true), evalCase: { ...CASE, id: "7", name } };
  const page = renderEvalReport(buildBenchmark(METADATA, ["with_skill"], [named]), [named.evalCase]);
  const words = [...page.matchAll(/<tspan[^>]*>([^<]*)<\/tspan>/g)].map(([, text]) => text).join(" ");
  expect(words).toContain(name);
  expect(page).not.toContain("…");
});

test("[U7] one call is one call, and a difference of nothing has no sign", () => {
  const one = run("with_skill", true);
  const runs = [
    { ...one, run: { ...one.run, toolCalls: { bash: 1 }, durationMs: 1490, tokens: 1 } },
    run("without_skill", true),
  ];
  const page = renderEvalReport(buildBenchmark(METADATA, ["with_skill", "without_skill"], runs), [CASE]);
  expect(page).toMatch(/1\.5 s, 1 token, 1 tool call</);
  expect(page).toContain('<td class="number">0.0 s</td>');
});
