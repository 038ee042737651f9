/**
 * The reports: of an evaluation, how much better a skill makes it, eval by eval, with the evidence; of routing, overlaps,
 * what to do about them and where queries went; of triggers, how often each request led to the skill.
 */

import { showCost } from "@metier/base/text";
import type { EvalCase } from "@metier/skills/formats";
import { describeSpread } from "../benchmark.ts";
import type { ArmName, ArmSummary, Benchmark, BenchmarkRun, IterationComparison } from "../evaluation.ts";
import type { Routing, RoutingEvaluation } from "../routing/evaluate-routing.ts";
import type { QueryResult, TriggerEvaluation } from "../routing/evaluate-triggers.ts";
import { countOf, fileLink, html, type Markup, renderBars, renderPage } from "./page.ts";

const ARM_WORDS: Readonly<Record<ArmName, string>> = {
  with_skill: "with the skill",
  without_skill: "without it",
  old_skill: "with the old one",
};

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

const NO_SPREAD = { mean: 0, stddev: 0 };

const MEASURES = [
  { key: "pass_rate", name: "Pass rate", show: percent },
  { key: "time_seconds", name: "Time", show: (value: number) => `${value.toFixed(1)} s` },
  { key: "tokens", name: "Tokens", show: (value: number) => String(Math.round(value)) },
] as const;

const COST = { key: "cost", name: "Cost", show: showCost } as const;

/** The cost only where it is known on every side. */
function measuresOf({ run_summary: summary }: Benchmark, arms: readonly ArmName[]) {
  return arms.every((arm) => summary[arm]?.cost) ? [...MEASURES, COST] : MEASURES;
}

export function renderEvalReport(benchmark: Benchmark, evals: readonly EvalCase[]): string {
  const { metadata } = benchmark;
  const { delta: _, ...summaries } = benchmark.run_summary;
  const arms = Object.keys(summaries) as ArmName[];
  const replayed = metadata.replayed ? "; replayed, so times are those of the recording" : "";
  return renderPage({
    title: `Evaluation of ${metadata.skill_name}`,
    lead: `${countOf(evals.length, "eval")}, ${countOf(metadata.runs_per_configuration, "run")} each on ${countOf(arms.length, "side")}, ${metadata.timestamp}${replayed}. Model: ${metadata.executor_model || "unknown"}; graded by ${metadata.analyzer_model || "the same"}.`,
    sections: [
      renderSummary(benchmark, arms),
      ...(benchmark.previous ? [renderComparison(benchmark.previous)] : []),
      renderPlots(benchmark, arms, evals),
      ...(benchmark.notes.length > 0 ? [html`<h2>About the evals</h2>${renderNotes(benchmark.notes)}`] : []),
      html`<h2>Every eval</h2>${evals.map((evalCase) => renderEval(evalCase, benchmark, arms))}`,
    ],
  });
}

function renderSummary(benchmark: Benchmark, arms: readonly ArmName[]): Markup {
  const { run_summary: summary } = benchmark;
  const rows = measuresOf(benchmark, arms).map(({ key, name, show }) => {
    const cells = arms.map((arm) => {
      const { mean, stddev } = summary[arm]?.[key] ?? NO_SPREAD;
      return html`<td class="number">${show(mean)} <span class="soft">± ${show(stddev)}</span></td>`;
    });
    const delta = summary.delta?.[key];
    const sign = delta !== undefined && delta > 0 ? "+" : "";
    const shown = delta === undefined ? "" : `${sign}${show(delta)}`.replace(/^[+-](?=0(?:\.0)? )/, "");
    return html`<tr><th scope="row">${name}</th>${cells}<td class="number">${shown}</td></tr>`;
  });
  const ungraded = arms.reduce((sum, arm) => sum + (summary[arm]?.ungraded ?? 0), 0);
  const note =
    ungraded === 0
      ? undefined
      : html`<p class="bad">${countOf(ungraded, "assertion")} could not be graded and ${ungraded === 1 ? "counts" : "count"} neither way.</p>`;
  return html`<h2>Summary</h2>${note}<div class="wide"><table>
<caption>Mean ± standard deviation over all runs; the difference is the first side minus the second.</caption>
<thead><tr><th scope="col">Measure</th>${arms.map((arm) => html`<th scope="col" class="number">${ARM_WORDS[arm]}</th>`)}<th scope="col" class="number">difference</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function renderComparison(previous: IterationComparison): Markup {
  const { iteration, timestamp, pass_rate, evals_compared, changed, same_skill, same_model } = previous;
  const rows = changed.map(
    ({ eval_name, before, after }) =>
      html`<tr><td class="${after > before ? "good" : "bad"}">${after > before ? "better" : "worse"}</td><td>${eval_name}</td><td class="number">${percent(before)}</td><td class="number">${percent(after)}</td></tr>`,
  );
  const table =
    rows.length === 0
      ? html`<p>Every eval has the pass rate it had.</p>`
      : html`<div class="wide"><table><caption>Evals whose pass rate changed, with the skill</caption>
<thead><tr><th scope="col">Change</th><th scope="col">Eval</th><th scope="col" class="number">before</th><th scope="col" class="number">now</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
  const cause = [
    ...(same_skill ? ["The skill is the same, so differences are chance."] : []),
    ...(same_model ? [] : ["Another model ran it."]),
  ].join(" ");
  return html`<h2>Since iteration ${iteration}</h2>
<p>${percent(pass_rate.before)} before (${timestamp}), ${percent(pass_rate.after)} now, over ${countOf(evals_compared, "eval")} that both have. ${cause}</p>${table}`;
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
    show: percent,
    bars: evals.map(({ id, name }) => ({
      label: name,
      values: arms.map((arm) => {
        const own = runs.filter((run) => String(run.eval_id) === id && run.configuration === arm);
        const graded = own.filter(({ result }) => result.total > 0);
        return describeSpread(graded.map(({ result }) => result.pass_rate));
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
  return html`<ul>${notes.map((note) => html`<li>${note}</li>`)}</ul>`;
}

function renderEval(
  evalCase: EvalCase,
  { runs, metadata: { replayed } }: Benchmark,
  arms: readonly ArmName[],
): Markup {
  const own = runs.filter((run) => String(run.eval_id) === evalCase.id);
  const sorted = own.toSorted((a, b) => arms.indexOf(a.configuration) - arms.indexOf(b.configuration));
  const expected =
    evalCase.expectedOutput === undefined
      ? undefined
      : html`<h3>Expected</h3><pre>${evalCase.expectedOutput}</pre>`;
  const rates = arms.map((arm) => {
    const { mean } = describeSpread(
      own
        .filter((run) => run.configuration === arm && run.result.total > 0)
        .map(({ result }) => result.pass_rate),
    );
    return `${percent(mean)} ${ARM_WORDS[arm]}`;
  });
  return html`<details><summary>${evalCase.name}: ${rates.join(", ")}</summary>
<h3>Task</h3><pre>${evalCase.prompt}</pre>${expected}
${sorted.map((run) => renderRun(run, replayed))}</details>`;
}

function renderRun(
  { configuration, run_number, result, expectations, notes, outputs }: BenchmarkRun,
  replayed: boolean,
): Markup {
  const rows = expectations.map(({ text, passed, evidence, ungraded }) => {
    const [kind, mark] = ungraded
      ? ["soft", "– not graded"]
      : passed
        ? ["good", "✓ holds"]
        : ["bad", "✗ fails"];
    return html`<tr><td class="${kind}">${mark}</td><td>${text}</td><td>${evidence}</td></tr>`;
  });
  const said = notes.length === 0 ? undefined : renderNotes(notes);
  const [answer, ...files] = outputs;
  const links = [
    ...(answer === undefined ? [] : [fileLink(answer, "Answer")]),
    ...files.map((path) => fileLink(path, path.slice(path.indexOf("/outputs/") + "/outputs/".length))),
  ];
  const time = `${result.time_seconds.toFixed(1)} s${replayed ? " when recorded" : ""}`;
  return html`<p>${links}</p><div class="wide"><table>
<caption>Run ${run_number} ${ARM_WORDS[configuration]}: ${result.passed} of ${result.total}, ${time}, ${countOf(result.tokens, "token")}${result.cost === undefined ? "" : `, ${showCost(result.cost)}`}, ${countOf(result.tool_calls, "tool call")}</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Assertion</th><th scope="col">Evidence</th></tr></thead>
<tbody>${rows}</tbody></table></div>${said}`;
}

/** A larger matrix is no picture any more; the pairs say it. */
const LARGEST_MATRIX = 40;

export function renderRoutingReport(evaluation: RoutingEvaluation): string {
  const { skills, descriptions, search, model } = evaluation;
  return renderPage({
    title: "Routing of a catalog",
    lead: `${countOf(skills, "skill")}; ${countOf(descriptions.pairs.length, "pair")} that can be mistaken for each other by their descriptions.`,
    sections: [
      renderPairs(evaluation),
      renderMatrix(evaluation),
      ...(search ? [renderRouting("By words alone", search)] : []),
      ...(model ? [renderRouting(`By ${model.name || "a model"}`, model)] : []),
    ],
  });
}

function renderPairs({ descriptions: { pairs } }: RoutingEvaluation): Markup {
  if (pairs.length === 0) return html`<h2>Overlaps</h2><p>None: every description stands for itself.</p>`;
  return html`<h2>Overlaps</h2><div class="wide"><table><caption>Worst first</caption>
<thead><tr><th scope="col">Skills</th><th scope="col">Verdict</th><th scope="col" class="number">confusion</th><th scope="col" class="number">similarity</th><th scope="col">What to do</th></tr></thead>
<tbody>${pairs.map(
    ({ skills, verdict, confusion, similarity, suggestion }) =>
      html`<tr><td>${skills.join(", ")}</td><td>${verdict}</td><td class="number">${confusion}</td><td class="number">${similarity}</td><td>${suggestion}</td></tr>`,
  )}</tbody></table></div>`;
}

function renderMatrix({ descriptions: { names, matrix } }: RoutingEvaluation): Markup {
  if (names.length > LARGEST_MATRIX) {
    return html`<h2>Matrix</h2><p>${names.length} skills are too many for a matrix; the JSON holds it.</p>`;
  }
  const rows = names.map((name, row) => {
    const cells = (matrix[row] ?? []).map((value, column) => {
      const heat = row === column ? 0 : Math.min(1, value);
      return html`<td class="cell" style="background: rgb(var(--warm) / ${(heat * 0.7).toFixed(2)})">${row === column ? "–" : value.toFixed(2)}</td>`;
    });
    return html`<tr><th scope="row">${name}</th>${cells}</tr>`;
  });
  return html`<h2>Matrix</h2><div class="wide" tabindex="0" role="region" aria-label="Matrix of overlaps"><table>
<caption>How well the skill of a column answers to the words of the skill of a row; 1 is as well as that skill itself.</caption>
<thead><tr><td></td>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

function renderRouting(title: string, { passed, total, queries }: Routing): Markup {
  const rows = queries.map(({ query, expected, not, chosen, passed: isRight }) => {
    const wanted = expected === undefined ? `not ${not ?? ""}` : (expected ?? "none");
    return html`<tr><td class="${isRight ? "good" : "bad"}">${isRight ? "✓ right" : "✗ wrong"}</td><td>${query}</td><td>${wanted}</td><td>${chosen ?? "none"}</td></tr>`;
  });
  return html`<h2>${title}</h2><div class="wide"><table><caption>${passed} of ${total} queries went right</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Query</th><th scope="col">For</th><th scope="col">Chosen</th></tr></thead>
<tbody>${rows}</tbody></table></div>`;
}

export function renderTriggerReport(evaluation: TriggerEvaluation): string {
  const { skill_name, model, runs_per_query, threshold, seed, summary, queries, replayed } = evaluation;
  return renderPage({
    title: `Triggers of ${skill_name}`,
    lead: `${countOf(queries.length, "query", "queries")}, ${countOf(runs_per_query, "run")} each, by ${model || "an unknown model"}${replayed ? ", replayed" : ""}. A query has triggered from ${percent(threshold)} of its runs on; the split is that of seed ${seed}.`,
    sections: [
      html`<h2>Summary</h2><table><caption>Queries that went as they should</caption>
<thead><tr><th scope="col">Set</th><th scope="col" class="number">passed</th><th scope="col" class="number">of</th><th scope="col" class="number">rate</th></tr></thead>
<tbody>${(["train", "validation", "all"] as const).map((set) => {
        const { passed, total, pass_rate } = summary[set];
        return html`<tr><th scope="row">${set}</th><td class="number">${passed}</td><td class="number">${total}</td><td class="number">${percent(pass_rate)}</td></tr>`;
      })}</tbody></table>`,
      html`<h2>Plot</h2>${renderBars({
        title: "Trigger rate of each query",
        sides: ["trigger rate"],
        most: 1,
        show: percent,
        bars: queries.map(({ query, trigger_rate }) => ({ label: query, values: [{ mean: trigger_rate }] })),
      })}`,
      html`<h2>Every query</h2><div class="wide"><table>
<caption>What should have happened, and what did</caption>
<thead><tr><th scope="col">Result</th><th scope="col">Query</th><th scope="col">Should</th><th scope="col" class="number">rate</th><th scope="col">Set</th><th scope="col">Instead</th></tr></thead>
<tbody>${queries.map(renderQuery)}</tbody></table></div>`,
    ],
  });
}

function renderQuery(result: QueryResult): Markup {
  const { query, should_trigger, trigger_rate, set, passed, instead, errors } = result;
  const others = Object.entries(instead).map(([name, count]) => `${name} (${count})`);
  return html`<tr><td class="${passed ? "good" : "bad"}">${passed ? "✓ right" : "✗ wrong"}</td><td>${query}</td>
<td>${should_trigger ? "trigger" : "not trigger"}</td><td class="number">${percent(trigger_rate)}</td><td>${set}</td><td>${[...others, ...errors].join(", ")}</td></tr>`;
}
