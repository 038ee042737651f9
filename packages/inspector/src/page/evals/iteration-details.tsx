/** One iteration: both arms in total, what failed and what could not be graded, and each answer. */

import type { ApiEvalTask, ApiSpread } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Facts, Figures } from "../design/facts.tsx";
import { ChoiceField } from "../design/field.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { Plot } from "../design/plot.tsx";
import { Code, Message, showUnseen, Time } from "../design/text.tsx";
import { address, changeQuery } from "../state/address.ts";
import { countOf, formatCost, formatNumber, formatPercent, shortId } from "../state/format.ts";
import { ARM_NAMES, type EvalBenchmark, type EvalComparison, type EvalResult, isClear } from "./benchmark.ts";
import { formatSpread } from "./iteration-table.tsx";
import { ResultCard } from "./result-card.tsx";

interface IterationProps {
  readonly skill: string;
  readonly number: string;
  readonly benchmark: EvalBenchmark;
  readonly tasks: readonly ApiEvalTask[];
}

const SHOWN = ["all", "failed", "not graded", "errors"] as const;

export function IterationDetails({ skill, number, benchmark, tasks }: IterationProps) {
  const { arms, results, notes } = benchmark;
  const shown = SHOWN.find((one) => one === address.value.query.get("show")) ?? "all";
  const wanted = results.filter((result) => isWanted(result, shown));
  const groups = [...Map.groupBy(wanted, ({ id }) => id)];
  return (
    <>
      <Summary benchmark={benchmark} />
      <Section title="Both sides">
        <Arms arms={arms} />
        <RatePlot benchmark={benchmark} />
      </Section>
      {benchmark.previous && <Comparison previous={benchmark.previous} />}
      {notes.length > 0 && (
        <Section title="About the evals themselves">
          <ul>
            {notes.map((note) => (
              <li key={note}>
                <Message text={note} />
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Every eval">
        <div class="filters">
          <ChoiceField
            label="Show"
            value={shown}
            options={SHOWN}
            onChange={(value) => changeQuery({ show: value === "all" ? undefined : value })}
          />
        </div>
        {groups.length === 0 && <Empty title={`No run matches "${shown}".`} />}
        {groups.map(([id, group]) => (
          <div key={id} class="card stack">
            <h3>{showUnseen(group[0]?.name ?? id)}</h3>
            <Task task={tasks.find((task) => task.id === id)} />
            <div class="columns">
              {group.map((result) => (
                <ResultCard
                  key={`${result.arm} ${result.number}`}
                  result={result}
                  skill={skill}
                  number={number}
                  isReplayed={benchmark.isReplayed}
                />
              ))}
            </div>
          </div>
        ))}
      </Section>
    </>
  );
}

function isWanted(
  { passed, total, errors, expectations }: EvalResult,
  shown: (typeof SHOWN)[number],
): boolean {
  if (shown === "failed") return passed < total;
  if (shown === "not graded") return expectations.some(({ verdict }) => verdict === "ungraded");
  return shown === "all" || errors > 0;
}

function Summary({ benchmark }: { readonly benchmark: EvalBenchmark }) {
  const { delta, results, model, grader, at, digest, isReplayed } = benchmark;
  return (
    <>
      <Figures
        figures={[
          ["Pass rate, difference", delta ? <Delta benchmark={benchmark} /> : "–"],
          ["Time, difference", delta ? `${signed(delta.seconds, 1)} s` : "–"],
          ["Tokens, difference", delta ? signed(delta.tokens, 0) : "–"],
          ["Runs", formatNumber(results.length)],
        ]}
      />
      <Facts
        facts={[
          ["When", <Time at={at} />],
          ["Model", `${model}${isReplayed ? ", replayed" : ""}`],
          ["Graded by", grader || undefined],
          ["Skill version", digest && <span class="mono">{shortId(digest, 16)}</span>],
        ]}
      />
    </>
  );
}

function Delta({ benchmark: { delta, arms } }: { readonly benchmark: EvalBenchmark }) {
  const [first, second] = arms;
  const isSure = first && second && isClear(first.passRate, second.passRate);
  return (
    <>
      {signed((delta?.passRate ?? 0) * 100, 0)} points{" "}
      {!isSure && <Badge title="The two spreads overlap; more runs would tell">within the noise</Badge>}
    </>
  );
}

function signed(value: number, digits: number): string {
  return `${value > 0 ? "+" : ""}${value.toFixed(digits)}`;
}

function Arms({ arms }: Pick<EvalBenchmark, "arms">) {
  return (
    <PlainTable
      label="Both sides"
      rows={arms}
      columns={[
        { title: "Side", isName: true, render: ({ name }) => ARM_NAMES[name] ?? name },
        { title: "Pass rate", isNumber: true, render: ({ passRate }) => formatSpread(passRate) },
        { title: "Time", isNumber: true, render: ({ seconds }) => formatSeconds(seconds) },
        { title: "Tokens", isNumber: true, render: ({ tokens }) => formatNumber(Math.round(tokens.mean)) },
        { title: "Cost", isNumber: true, render: ({ cost }) => formatCost(cost?.mean) },
        { title: "Not graded", isNumber: true, render: ({ ungraded }) => ungraded },
      ]}
    />
  );
}

function formatSeconds({ mean, stddev }: ApiSpread): string {
  return stddev > 0 ? `${mean.toFixed(1)} s ± ${stddev.toFixed(1)} s` : `${mean.toFixed(1)} s`;
}

/** With the skill, and below it without: eval by eval. */
function RatePlot({ benchmark: { results, arms } }: { readonly benchmark: EvalBenchmark }) {
  const [first, second] = arms;
  const groups = [...Map.groupBy(results, ({ id }) => id).values()];
  const rateOf = (group: readonly EvalResult[], arm: string | undefined): number => {
    const own = group.filter((result) => result.arm === arm && result.total > 0);
    return own.reduce((sum, { passed, total }) => sum + passed / total, 0) / Math.max(1, own.length);
  };
  if (groups.length < 2) return null;
  return (
    <Plot
      title={`Pass rate of each eval ${ARM_NAMES[first?.name ?? ""] ?? ""}`}
      most={1}
      points={groups.map((group) => ({ label: group[0]?.name ?? "", value: rateOf(group, first?.name) }))}
      second={
        second && {
          title: ARM_NAMES[second.name] ?? second.name,
          values: groups.map((group) => rateOf(group, second.name)),
        }
      }
      show={formatPercent}
    />
  );
}

function Comparison({ previous }: { readonly previous: EvalComparison }) {
  const { iteration, before, after, compared, changed, isSameSkill, isSameModel } = previous;
  return (
    <Section title={`Since iteration ${iteration}`}>
      <p>
        {formatPercent(before)} before, {formatPercent(after)} now, over {countOf(compared, "eval")} that both
        have.
        {isSameSkill && " The skill is the same, so differences are chance."}
        {!isSameModel && " Another model ran it."}
      </p>
      {changed.length === 0 ? (
        <p class="soft">No pass rate has changed.</p>
      ) : (
        <table class="plain-table">
          <caption class="hidden">Evals with a changed pass rate</caption>
          <tbody>
            {changed.map(({ name, before: old, after: now }) => (
              <tr key={name}>
                <th scope="row">{showUnseen(name)}</th>
                <td>
                  <Badge tone={now > old ? "good" : "bad"}>{now > old ? "better" : "worse"}</Badge>
                </td>
                <td class="number">
                  {formatPercent(old)} → {formatPercent(now)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

function Task({ task }: { readonly task: ApiEvalTask | undefined }) {
  if (task === undefined) return null;
  return (
    <details>
      <summary>The task</summary>
      <div class="stack">
        <Code text={task.prompt} label="Task" />
        {task.expected && <Code text={task.expected} label="Expected" />}
      </div>
    </details>
  );
}
