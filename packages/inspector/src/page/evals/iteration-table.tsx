/** The iterations of a skill, newest first, each beside its baseline. */
import type { ApiEvalSummary, ApiSpread } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { formatCost, formatPercent, shortId } from "../state/format.ts";
import { isClear } from "./benchmark.ts";

type Iteration = ApiEvalSummary["iterations"][number];

interface IterationTableProps {
  readonly skill: string;
  readonly iterations: readonly Iteration[];
}

export function IterationTable({ skill, iterations }: IterationTableProps) {
  return (
    <div class="scrolls" role="region" aria-label={`Iterations of ${skill}`} tabIndex={0}>
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Iteration</th>
            <th scope="col">When</th>
            <th scope="col">Model</th>
            <th scope="col">Version</th>
            <th scope="col" class="number">
              With
            </th>
            <th scope="col" class="number">
              Without
            </th>
            <th scope="col">Difference</th>
            <th scope="col" class="number">
              Runs
            </th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {iterations.map((iteration) => (
            <tr key={iteration.number}>
              <td>
                <a href={linkTo(["evals", skill, String(iteration.number)])}>{iteration.number}</a>
              </td>
              <td>
                <Time at={iteration.at} />
              </td>
              <td>{iteration.model}</td>
              <td class="mono" title={iteration.digest}>
                {iteration.digest ? shortId(iteration.digest, 8) : "–"}
              </td>
              <td class="number">{formatSpread(iteration.passRate)}</td>
              <td class="number">{iteration.baseline ? formatSpread(iteration.baseline) : "–"}</td>
              <td>
                <Difference iteration={iteration} />
              </td>
              <td class="number">{iteration.runs}</td>
              <td class="number">{formatCost(iteration.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Mean and noise: `80 % ± 10 %`. */
export function formatSpread({ mean, stddev }: ApiSpread): string {
  return stddev > 0 ? `${formatPercent(mean)} ± ${formatPercent(stddev)}` : formatPercent(mean);
}

function Difference({ iteration: { passRate, baseline, ungraded } }: { readonly iteration: Iteration }) {
  if (baseline === undefined) return <span class="soft">no baseline</span>;
  const delta = passRate.mean - baseline.mean;
  const tone = !isClear(passRate, baseline) ? "plain" : delta > 0 ? "good" : "bad";
  const sign = delta > 0 ? "+" : "";
  return (
    <span class="row">
      <Badge tone={tone} title={tone === "plain" ? "Within what chance makes of it" : undefined}>
        {sign}
        {Math.round(delta * 100)} points
      </Badge>
      {ungraded > 0 && <Badge tone="warn">{ungraded} not graded</Badge>}
    </span>
  );
}
