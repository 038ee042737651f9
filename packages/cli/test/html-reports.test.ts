/** Reports are pages of the inspector: whatever skills, evals and models wrote, none of it may act in a browser. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Evaluation } from "@metier/evals";
import { expect, test } from "vitest";
import { evalReport, routingReport, triggerReport } from "../src/output/html-reports.ts";

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)>'\u2028<!--</style></title>`;

const RESULT = {
  passed: 1,
  failed: 0,
  total: 1,
  pass_rate: 1,
  time_seconds: 1.5,
  tokens: 1,
  tool_calls: 1,
  errors: 0,
};
const SPREAD = { mean: 1, stddev: 0, min: 1, max: 1 };

function evaluation(folder: string): Evaluation {
  return {
    benchmark: {
      metadata: {
        skill_name: HOSTILE,
        skill_path: "/home/somebody/skills/greet",
        executor_model: HOSTILE,
        analyzer_model: HOSTILE,
        timestamp: "2026-01-01T00:00:00.000Z",
        evals_run: ["1"],
        runs_per_configuration: 1,
        replayed: false,
      },
      run_summary: { with_skill: { pass_rate: SPREAD, time_seconds: SPREAD, tokens: SPREAD } },
      notes: [HOSTILE],
      runs: [
        {
          eval_id: 1,
          eval_name: HOSTILE,
          configuration: "with_skill",
          run_number: 1,
          result: RESULT,
          expectations: [{ text: HOSTILE, passed: true, evidence: HOSTILE }],
          notes: [],
          outputs: ["answer.md"],
        },
      ],
    },
    iteration: { path: folder, number: 3 },
    evals: [{ id: "1", name: HOSTILE, folder: "eval-1", prompt: HOSTILE, files: [], assertions: [] }],
    diagnostics: [],
    errors: 0,
    cancelled: false,
  };
}

const PAGES = {
  evals() {
    const folder = mkdtempSync(join(tmpdir(), "metier-report-"));
    writeFileSync(join(folder, "answer.md"), HOSTILE);
    return evalReport(HOSTILE, evaluation(folder));
  },
  triggers: () =>
    triggerReport(
      {
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
      },
      1,
    ),
  routing: () =>
    routingReport({
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
  expect(page).not.toContain("<script>alert(1)");
  expect(page).not.toContain("<img");
  const [, data = ""] = /id="metier-answers">([^<]*)<\/script>/.exec(page) ?? [];
  expect(JSON.stringify(JSON.parse(data))).toContain("alert(1)");
  expect(page.match(/<\/title>/g)).toHaveLength(1);
  expect(page.match(/<\/style>/g)).toHaveLength(1);
  expect(page.match(/<script[ >]/g)).toHaveLength(2);
});

test.each(Object.entries(PAGES))(
  "the report of %s loads nothing and runs its own script alone",
  (_, render) => {
    const page = render();
    const [, policy = ""] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
    expect(policy).toContain("default-src 'none'");
    expect(policy).toMatch(/script-src 'sha256-[\w+/=]+';/);
    expect(policy).not.toContain("unsafe");
    expect(page).not.toMatch(/<link|@import|url\(/);
  },
);

test("a report has the answers with it, and no folder of the machine it was made on", () => {
  const page = PAGES.evals();
  expect(page).toContain("/outputs/answer.md");
  expect(page).not.toContain("/home/somebody");
});
