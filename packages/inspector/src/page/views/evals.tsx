/** Evaluation results: skills with their iterations, and one iteration with every answer. */
import type { ApiEvalSummary, ApiIteration, ApiList } from "@metier/service/api";
import { Answered, Empty, Notice } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { Plot } from "../design/plot.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { readBenchmark } from "../evals/benchmark.ts";
import { IterationDetails } from "../evals/iteration-details.tsx";
import { IterationTable } from "../evals/iteration-table.tsx";
import { TriggerDetails } from "../evals/trigger-details.tsx";
import { readTriggers } from "../evals/triggers.ts";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatPercent } from "../state/format.ts";
import type { ViewProps } from "./all-views.ts";

const PATH = "/v1/evals";

export function Evals({ rest: [skill, number] }: ViewProps) {
  if (skill !== undefined && number !== undefined) return <IterationPage skill={skill} number={number} />;
  return <EvalList only={skill} />;
}

function EvalList({ only }: { readonly only: string | undefined }) {
  const known = useAnswer<ApiList<ApiEvalSummary>>(PATH);
  return (
    <ViewPage
      title={only === undefined ? "Evals" : `Evals of ${showUnseen(only)}`}
      lead="What a skill is worth: the same tasks with it and without it."
    >
      <Answered known={known} path={PATH}>
        {({ data }) => {
          const shown = data.filter(({ skill }) => only === undefined || skill === only);
          if (shown.length === 0) return <NoEvals />;
          return (
            <>
              {shown.map((summary) => (
                <SkillEvals key={summary.skill} summary={summary} />
              ))}
            </>
          );
        }}
      </Answered>
    </ViewPage>
  );
}

function NoEvals() {
  return (
    <Empty title="No evaluations yet.">
      <p>
        <Message text="`metier new` writes an eval with a new skill; `metier eval <skill>` runs it." />
      </p>
    </Empty>
  );
}

function SkillEvals({ summary: { skill, iterations } }: { readonly summary: ApiEvalSummary }) {
  const ordered = iterations.toSorted((a, b) => a.number - b.number);
  return (
    <Section title={showUnseen(skill)} actions={<a href={linkTo(["skill", skill])}>The skill</a>}>
      {ordered.length > 1 && (
        <Plot
          title="Pass rate with the skill"
          form="line"
          most={1}
          points={ordered.map(({ number, passRate }) => ({
            label: `iteration ${number}`,
            value: passRate.mean,
            noise: passRate.stddev,
          }))}
          show={formatPercent}
        />
      )}
      <IterationTable skill={skill} iterations={ordered.toReversed()} />
    </Section>
  );
}

function IterationPage({ skill, number }: { readonly skill: string; readonly number: string }) {
  const path = `/v1/evals/${encodeURIComponent(skill)}/${encodeURIComponent(number)}`;
  const known = useAnswer<ApiIteration>(path);
  return (
    <ViewPage
      title={`${showUnseen(skill)}, iteration ${showUnseen(number)}`}
      lead={<a href={linkTo(["evals", skill])}>All iterations</a>}
    >
      <Answered known={known} path={path}>
        {({ benchmark, triggers, evals = [] }) => {
          const read = benchmark && readBenchmark(benchmark);
          if (read) return <IterationDetails skill={skill} number={number} benchmark={read} tasks={evals} />;
          const asked = triggers && readTriggers(triggers);
          return asked ? <TriggerDetails triggers={asked} /> : <Unreadable />;
        }}
      </Answered>
    </ViewPage>
  );
}

function Unreadable() {
  return (
    <Notice tone="bad" title="This result can't be read.">
      <p>It was written by another version of Metier, or edited by hand.</p>
    </Notice>
  );
}
