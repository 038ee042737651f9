/** Runs over days: counts, failures, tokens, cost and times; and skills that nobody uses. */
import type { ApiDayStatistics, ApiSkillStatistics, ApiStatistics } from "@metier/service/api";
import { useMemo, useState } from "preact/hooks";
import { Button, LinkButton } from "../design/button.tsx";
import { Figures } from "../design/facts.tsx";
import { ChoiceField } from "../design/field.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { Plot } from "../design/plot.tsx";
import { Table } from "../design/table.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { DayRange, withDays } from "../parts/day-range.tsx";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatCost, formatDuration, formatNumber, formatPercent, formatTokens } from "../state/format.ts";

export function Statistics() {
  const path = withDays("/v1/statistics");
  const known = useAnswer<ApiStatistics>(path);
  return (
    <ViewPage title="Statistics" actions={<LinkButton href={linkTo(["runs"])}>All runs</LinkButton>}>
      <DayRange />
      <Answered known={known} path={path}>
        {(statistics) => <Numbers statistics={statistics} />}
      </Answered>
    </ViewPage>
  );
}

function Numbers({ statistics }: { readonly statistics: ApiStatistics }) {
  const { days, skills, neverUsed } = statistics;
  const runs = sum(days, "runs");
  return (
    <>
      {runs === 0 ? (
        <Empty title="Nothing ran in this time.">
          <p>
            <Message text="Choose a longer time, or start a run: `metier run <skill> <message>`." />
          </p>
        </Empty>
      ) : (
        <>
          <Figures
            figures={[
              ["Runs", formatNumber(runs)],
              [
                "Failed",
                `${formatNumber(sum(days, "failed"))} (${formatPercent(sum(days, "failed") / runs)})`,
              ],
              ["Tokens", formatTokens(sum(days, "tokens"))],
              ["Cost", formatCost(sum(days, "cost"))],
            ]}
          />
          <Plots days={days} />
          <BySkill skills={skills} />
        </>
      )}
      <NeverUsed names={neverUsed} />
    </>
  );
}

function sum(days: readonly ApiDayStatistics[], name: "runs" | "failed" | "tokens" | "cost"): number {
  return days.reduce((total, day) => total + day[name], 0);
}

function Plots({ days }: { readonly days: readonly ApiDayStatistics[] }) {
  const points = (name: Exclude<keyof ApiDayStatistics, "day">) =>
    days.map((day) => ({ label: day.day, value: day[name] }));
  return (
    <Section title="Over time">
      <div class="columns">
        <Plot
          title="Runs"
          points={points("runs")}
          second={{ title: "failed", values: days.map(({ failed }) => failed) }}
          show={formatNumber}
        />
        <Plot
          title="Failed, of all runs"
          points={days.map(({ day, runs, failed }) => ({
            label: day,
            value: runs === 0 ? 0 : failed / runs,
          }))}
          show={formatPercent}
        />
        <Plot title="Cost" points={points("cost")} show={formatCost} />
        <Plot title="Tokens" points={points("tokens")} show={formatTokens} />
        <Plot title="Duration, median" points={points("medianMs")} show={formatDuration} />
        <Plot title="Duration, 95th percentile" points={points("p95Ms")} show={formatDuration} />
      </div>
    </Section>
  );
}

const SORTS: readonly (readonly [Exclude<keyof ApiSkillStatistics, "skill">, string])[] = [
  ["runs", "Runs"],
  ["failed", "Failed"],
  ["tokens", "Tokens"],
  ["cost", "Cost"],
  ["medianMs", "Median time"],
  ["p95Ms", "95th percentile"],
];

function BySkill({ skills }: { readonly skills: readonly ApiSkillStatistics[] }) {
  const wanted = address.value.query.get("sort");
  const [sort] = SORTS.find(([name]) => name === wanted) ?? ["runs"];
  const rows = useMemo(() => skills.toSorted((a, b) => b[sort] - a[sort]), [skills, sort]);
  return (
    <Section
      title="By skill"
      actions={
        <ChoiceField
          label="Sort by"
          isLabelHidden
          value={sort}
          options={SORTS.map(([name, title]) => [name, `Most by: ${title}`] as const)}
          onChange={(value) => changeQuery({ sort: value === "runs" ? undefined : value })}
        />
      }
    >
      <div class={rows.length < 12 ? "run-table short" : "run-table"}>
        <Table
          label="Skills"
          rows={rows}
          keyOf={({ skill }) => skill}
          linkOf={({ skill }) => linkTo(["runs"], { skill })}
          columns={[
            { title: "Skill", width: "minmax(0, 2fr)", render: ({ skill }) => showUnseen(skill) },
            { title: "Runs", width: "4rem", isNumber: true, render: ({ runs }) => formatNumber(runs) },
            {
              title: "Failed",
              width: "4rem",
              isNumber: true,
              render: ({ failed }) => formatNumber(failed),
            },
            {
              title: "Tokens",
              width: "5rem",
              isNumber: true,
              isMinor: true,
              render: ({ tokens }) => formatTokens(tokens),
            },
            { title: "Cost", width: "5rem", isNumber: true, render: ({ cost }) => formatCost(cost) },
            {
              title: "Median",
              width: "6rem",
              isNumber: true,
              isMinor: true,
              render: ({ medianMs }) => formatDuration(medianMs),
            },
            {
              title: "95 %",
              width: "6rem",
              isNumber: true,
              isMinor: true,
              render: ({ p95Ms }) => formatDuration(p95Ms),
            },
          ]}
        />
      </div>
    </Section>
  );
}

const MOST_NAMES = 100;

function NeverUsed({ names }: { readonly names: readonly string[] }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? names : names.slice(0, MOST_NAMES);
  return (
    <Section title="Never used">
      {names.length === 0 ? (
        <p class="soft">Every usable skill was used in this time.</p>
      ) : (
        <>
          <p class="soft small">
            Usable, but no run used them in this time. If one should have been used, check its description.
          </p>
          <ul class="name-list">
            {shown.map((name) => (
              <li key={name}>
                <a href={linkTo(["skill", name])}>{showUnseen(name)}</a>
              </li>
            ))}
          </ul>
          {shown.length < names.length && (
            <div class="row">
              <Button onPress={() => setWhole(true)}>Show all {formatNumber(names.length)}</Button>
            </div>
          )}
        </>
      )}
    </Section>
  );
}
