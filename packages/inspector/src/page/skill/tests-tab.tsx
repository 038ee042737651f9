/** How a skill is checked: its tests, and how well it did in evals over time. */
import type { ApiEvalSummary, ApiList, ApiSkill } from "@metier/service/api";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Plot } from "../design/plot.tsx";
import { showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatCost, formatNumber, formatPercent } from "../state/format.ts";
import { linkToFile } from "./files-tab.tsx";

const EVALS = "/v1/evals";

type Iteration = ApiEvalSummary["iterations"][number];

export function TestsTab({ skill }: { readonly skill: ApiSkill }) {
  const known = useAnswer<ApiList<ApiEvalSummary>>(EVALS);
  return (
    <>
      <Section title="Tests">
        <TestList skill={skill} />
      </Section>
      <Section
        title="Evals over time"
        actions={<a href={linkTo(["evals", skill.name])}>Its iterations side by side</a>}
      >
        <Answered known={known} path={EVALS}>
          {({ data }) => <EvalHistory skill={skill.name} iterations={iterationsOf(data, skill.name)} />}
        </Answered>
      </Section>
    </>
  );
}

function iterationsOf(all: readonly ApiEvalSummary[], name: string): readonly Iteration[] {
  return all.find(({ skill }) => skill === name)?.iterations ?? [];
}

function TestList({ skill: { address, name, tests } }: { readonly skill: ApiSkill }) {
  if (tests.length === 0) {
    return (
      <Empty title="It has no tests.">
        <p>
          Put them into <code>tests/</code> beside its <code>SKILL.md</code>, then run{" "}
          <code>metier test {showUnseen(name)}</code>.
        </p>
      </Empty>
    );
  }
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">Test</th>
          <th scope="col">File</th>
          <th scope="col" class="number">
            Cases
          </th>
        </tr>
      </thead>
      <tbody>
        {tests.map((test) => (
          <tr key={test.file}>
            <th scope="row">{showUnseen(test.name)}</th>
            <td>
              <a href={linkToFile(address, test.file)}>{showUnseen(test.file)}</a>
            </td>
            <td class="number">{formatNumber(test.cases)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function EvalHistory({
  skill,
  iterations,
}: {
  readonly skill: string;
  readonly iterations: readonly Iteration[];
}) {
  if (iterations.length === 0) {
    return (
      <Empty title="It was not evaluated yet.">
        <p>
          Compare its results with and without it: <code>metier eval {showUnseen(skill)}</code>.
        </p>
      </Empty>
    );
  }
  return (
    <>
      <Plot
        title="Share of checks that pass"
        form="line"
        most={1}
        points={iterations.map(({ number, passRate }) => ({
          label: `#${number}`,
          value: passRate.mean,
          noise: passRate.stddev,
        }))}
        show={formatPercent}
      />
      <div class="scrolls" tabIndex={0} role="region" aria-label="Iterations">
        <table class="plain-table">
          <thead>
            <tr>
              {["Iteration", "When", "Model"].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              {["Runs", "With it", "Without it", "Difference", "Cost"].map((title) => (
                <th key={title} scope="col" class="number">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {iterations.toReversed().map((iteration) => (
              <IterationRow key={iteration.number} iteration={iteration} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function IterationRow({ iteration }: { readonly iteration: Iteration }) {
  const { number, at, model, runs, passRate, baseline, cost, ungraded } = iteration;
  return (
    <tr>
      <th scope="row">#{number}</th>
      <td>
        <Time at={at} />
      </td>
      <td>{showUnseen(model)}</td>
      <td class="number">
        {formatNumber(runs)}
        {ungraded > 0 && <span class="soft"> ({formatNumber(ungraded)} not graded)</span>}
      </td>
      <td class="number">{showSpread(passRate)}</td>
      <td class="number">{baseline ? showSpread(baseline) : "–"}</td>
      <td class="number">{baseline ? showDifference(passRate.mean - baseline.mean) : "–"}</td>
      <td class="number">{formatCost(cost)}</td>
    </tr>
  );
}

function showSpread({ mean, stddev }: Iteration["passRate"]): string {
  return `${formatPercent(mean)} ± ${Math.round(stddev * 100)}`;
}

function showDifference(difference: number): string {
  return `${difference > 0 ? "+" : ""}${Math.round(difference * 100)} points`;
}
