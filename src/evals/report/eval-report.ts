/** The report of an evaluation: how much better a skill makes it, eval by eval, with the evidence. */
import type { ArmName } from "../arms.ts";
import type { ArmSummary, Benchmark, BenchmarkRun } from "../benchmark.ts";
import type { EvalCase } from "../eval-set.ts";
import { describeSpread } from "../statistics.ts";
import { renderBars } from "./charts.ts";
import { count, html, type Markup, renderPage } from "./html.ts";

const ARM_WORDS: Readonly<Record<ArmName, string>> = {
  with_skill: "with the skill",
  without_skill: "without it",
  old_skill: "with the old one",
};

const MEASURES = [
  { key: "pass_rate", name: "Pass rate", show: (value: number) => `${Math.round(value * 100)} %`, most: 1 },
  { key: "time_seconds", name: "Time", show: (value: number) => `${value.toFixed(1)} s` },
  { key: "tokens", name: "Tokens", show: (value: number) => String(Math.round(value)) },
] as const;

export function renderEvalReport(benchmark: Benchmark, evals: readonly EvalCase[]): string {
  const { metadata } = benchmark;
  const arms = armsOf(benchmark);
  const replayed = metadata.replayed ? "; replayed from recordings" : "";
  return renderPage({
    title: `Evaluation of ${metadata.skill_name}`,
    lead: `${count(evals.length, "eval")}, ${count(metadata.runs_per_configuration, "run")} each on ${count(arms.length, "side")}, ${metadata.timestamp}${replayed}. Model: ${metadata.executor_model || "unknown"}; graded by ${metadata.analyzer_model || "the same"}.`,
    sections: [
      renderSummary(benchmark, arms),
      renderPlots(benchmark, arms, evals),
      ...(benchmark.notes.length > 0 ? [renderNotes(benchmark.notes)] : []),
      html`<h2>Every eval</h2>${evals.map((evalCase) => renderEval(evalCase, benchmark.runs, arms))}`,
    ],
  });
}

function armsOf({ run_summary: { delta: _, ...arms } }: Benchmark): readonly ArmName[] {
  return Object.keys(arms) as ArmName[];
}

function renderSummary({ run_summary: summary }: Benchmark, arms: readonly ArmName[]): Markup {
  const rows = MEASURES.map(({ key, name, show }) => {
    const cells = arms.map((arm) => {
      const { mean, stddev } = (summary[arm] as ArmSummary)[key];
      return html`<td class="number">${show(mean)} <span class="soft">± ${show(stddev)}</span></td>`;
    });
    const delta = summary.delta?.[key];
    const sign = delta !== undefined && delta > 0 ? "+" : "";
    const shown = delta === undefined ? "" : `${sign}${show(delta)}`;
    return html`<tr><th scope="row">${name}</th>${cells}<td class="number">${shown}</td></tr>`;
  });
  return html`<h2>Summary</h2><div class="wide"><table>
<caption>Mean ± standard deviation over all runs; the difference is the first side less the second.</caption>
<thead><tr><th scope="col">Measure</th>${arms.map((arm) => html`<th scope="col" class="number">${ARM_WORDS[arm]}</th>`)}<th scope="col" class="number">difference</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function renderPlots(
  { run_summary: summary, runs }: Benchmark,
  arms: readonly ArmName[],
  evals: readonly EvalCase[],
): Markup {
  const sides = arms.map((arm) => ARM_WORDS[arm]);
  const byEval = renderBars({
    title: "Pass rate of each eval",
    sides,
    most: 1,
    show: MEASURES[0].show,
    bars: evals.map(({ id, name }) => ({
      label: name,
      values: arms.map((arm) => {
        const own = runs.filter((run) => String(run.eval_id) === id && run.configuration === arm);
        return describeSpread(own.map(({ result }) => result.pass_rate));
      }),
    })),
  });
  const overall = MEASURES.slice(1).map(({ key, name, show }) =>
    renderBars({
      title: `${name} of a run`,
      sides,
      show,
      bars: [{ label: name, values: arms.map((arm) => (summary[arm] as ArmSummary)[key]) }],
    }),
  );
  return html`<h2>Plots</h2>${[byEval, ...overall]}`;
}

function renderNotes(notes: readonly string[]): Markup {
  return html`<h2>About the evals</h2><ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`;
}

function renderEval(evalCase: EvalCase, runs: readonly BenchmarkRun[], arms: readonly ArmName[]): Markup {
  const own = runs.filter((run) => String(run.eval_id) === evalCase.id);
  const sorted = own.toSorted((a, b) => arms.indexOf(a.configuration) - arms.indexOf(b.configuration));
  const expected =
    evalCase.expectedOutput === undefined
      ? undefined
      : html`<h3>Expected</h3><pre>${evalCase.expectedOutput}</pre>`;
  const rates = arms.map((arm) => {
    const { mean } = describeSpread(
      own.filter((run) => run.configuration === arm).map(({ result }) => result.pass_rate),
    );
    return `${MEASURES[0].show(mean)} ${ARM_WORDS[arm]}`;
  });
  return html`<details><summary>${evalCase.name}: ${rates.join(", ")}</summary>
<h3>Task</h3><pre>${evalCase.prompt}</pre>${expected}
${sorted.map(renderRun)}</details>`;
}

function renderRun({ configuration, run_number, result, expectations, notes }: BenchmarkRun): Markup {
  const rows = expectations.map(
    ({ text, passed, evidence }) =>
      html`<tr><td class="${passed ? "good" : "bad"}">${passed ? "✓ holds" : "✗ fails"}</td><td>${text}</td><td>${evidence}</td></tr>`,
  );
  const said = notes.length === 0 ? undefined : html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`;
  return html`<div class="wide"><table>
<caption>Run ${run_number} ${ARM_WORDS[configuration]}: ${result.passed} of ${result.total}, ${result.time_seconds} s, ${result.tokens} tokens, ${result.tool_calls} tool calls</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Assertion</th><th scope="col">Evidence</th></tr></thead>
<tbody>${rows}</tbody></table></div>${said}`;
}
