/** The iterations of a skill, newest first, each with its baseline. */

import type { ApiEvalSummary, ApiSpread } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { showUnseen, Time } from "../design/text.tsx";
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
    <PlainTable
      label={`Iterations of ${skill}`}
      rows={iterations}
      columns={[
        {
          title: "Iteration",
          render: ({ number }) => <a href={linkTo(["evals", skill, String(number)])}>{number}</a>,
        },
        { title: "When", render: ({ at }) => <Time at={at} /> },
        { title: "Model", render: ({ model }) => showUnseen(model) },
        {
          title: "Version",
          render: ({ digest }) => (
            <span class="mono" title={digest}>
              {digest ? shortId(digest, 8) : "–"}
            </span>
          ),
        },
        { title: "With", isNumber: true, render: ({ passRate }) => formatSpread(passRate) },
        {
          title: "Without",
          isNumber: true,
          render: ({ baseline }) => (baseline ? formatSpread(baseline) : "–"),
        },
        { title: "Difference", render: (iteration) => <Difference iteration={iteration} /> },
        { title: "Runs", isNumber: true, render: ({ runs }) => runs },
        { title: "Cost", isNumber: true, render: ({ cost }) => formatCost(cost) },
      ]}
    />
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
      <Badge tone={tone} title={tone === "plain" ? "Could be chance" : undefined}>
        {sign}
        {Math.round(delta * 100)} points
      </Badge>
      {ungraded > 0 && <Badge tone="warn">{ungraded} not graded</Badge>}
    </span>
  );
}
