/** The report of a routing test: a matrix of overlaps, what to do about them, and where queries went. */
import type { Routing, RoutingEvaluation } from "../routing/evaluate-routing.ts";
import { count, html, type Markup, renderPage } from "./html.ts";

/** A larger matrix is no picture any more; the pairs say it. */
const LARGEST_MATRIX = 40;

export function renderRoutingReport(evaluation: RoutingEvaluation): string {
  const { skills, descriptions, search, model } = evaluation;
  return renderPage({
    title: "Routing of a catalog",
    lead: `${count(skills, "skill")}; ${count(descriptions.pairs.length, "pair")} that can be mistaken for each other by their descriptions.`,
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
