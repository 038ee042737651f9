/** How a skill is checked: its tests, and its eval results over time. */

import type { ApiEvalSummary, ApiList, ApiSkill } from "@metier/service/api";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { Plot } from "../design/plot.tsx";
import { showUnseen } from "../design/text.tsx";
import { IterationTable } from "../evals/iteration-table.tsx";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatNumber, formatPercent } from "../state/format.ts";
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
      <Section title="Evals over time" actions={<a href={linkTo(["evals", skill.name])}>In the evals</a>}>
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
          Put them into <code>tests/</code> next to its <code>SKILL.md</code>, then run{" "}
          <code>metier test {showUnseen(name)}</code>.
        </p>
      </Empty>
    );
  }
  return (
    <PlainTable
      label="Tests"
      rows={tests}
      columns={[
        { title: "Test", isName: true, render: (test) => showUnseen(test.name) },
        { title: "File", render: ({ file }) => <a href={linkToFile(address, file)}>{showUnseen(file)}</a> },
        { title: "Cases", isNumber: true, render: ({ cases }) => formatNumber(cases) },
      ]}
    />
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
      <Empty title="Not evaluated yet.">
        <p>
          Compare results with and without it: <code>metier eval {showUnseen(skill)}</code>.
        </p>
      </Empty>
    );
  }
  const ordered = iterations.toSorted((a, b) => a.number - b.number);
  return (
    <>
      <Plot
        title="Pass rate with the skill"
        form="line"
        most={1}
        points={ordered.map(({ number, passRate }) => ({
          label: `#${number}`,
          value: passRate.mean,
          noise: passRate.stddev,
        }))}
        show={formatPercent}
      />
      <IterationTable skill={skill} iterations={ordered.toReversed()} />
    </>
  );
}
