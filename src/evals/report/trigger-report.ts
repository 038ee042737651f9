/** The report of a trigger evaluation: how often each request led to the skill. */
import type { QueryResult, TriggerEvaluation } from "../triggers/evaluate-triggers.ts";
import { renderBars } from "./charts.ts";
import { count, html, type Markup, renderPage } from "./html.ts";

const percent = (value: number): string => `${Math.round(value * 100)} %`;

export function renderTriggerReport(evaluation: TriggerEvaluation): string {
  const { skill_name, model, runs_per_query, threshold, seed, summary, queries, replayed } = evaluation;
  return renderPage({
    title: `Triggers of ${skill_name}`,
    lead: `${count(queries.length, "query", "queries")}, ${count(runs_per_query, "run")} each, by ${model || "an unknown model"}${replayed ? ", replayed" : ""}. A query has triggered from ${percent(threshold)} of its runs on; the split is that of seed ${seed}.`,
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

function renderQuery({
  query,
  should_trigger,
  trigger_rate,
  set,
  passed,
  instead,
  errors,
}: QueryResult): Markup {
  const others = Object.entries(instead).map(([name, count]) => `${name} (${count})`);
  return html`<tr><td class="${passed ? "good" : "bad"}">${passed ? "✓ right" : "✗ wrong"}</td><td>${query}</td>
<td>${should_trigger ? "trigger" : "not trigger"}</td><td class="number">${percent(trigger_rate)}</td><td>${set}</td><td>${[...others, ...errors].join(", ")}</td></tr>`;
}
