/** What the tenant's runs used, by day, skill and user. */
import type { ApiList, ApiUsageSum } from "@metier/service/api";
import { Figures } from "../design/facts.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { Plot } from "../design/plot.tsx";
import { Tabs } from "../design/tabs.tsx";
import { GivenName, Message } from "../design/text.tsx";
import { DayRange, withDays } from "../parts/day-range.tsx";
import { FirstRows } from "../parts/first-rows.tsx";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatCost, formatDuration, formatNumber, formatTokens } from "../state/format.ts";
import { fillDays } from "./usage-days.ts";

type By = "day" | "skill" | "user";

export function UsageSection() {
  return (
    <Section title="Usage">
      <p class="soft small">Runs that have ended in the last 30 days, unless you choose other days.</p>
      <DayRange />
      <Tabs
        label="Usage"
        query="by"
        tabs={[
          { id: "day", title: "By day", render: () => <Usage key="day" by="day" /> },
          { id: "skill", title: "By skill", render: () => <Usage key="skill" by="skill" /> },
          { id: "user", title: "By user", render: () => <Usage key="user" by="user" /> },
        ]}
      />
    </Section>
  );
}

function Usage({ by }: { readonly by: By }) {
  const path = withDays(`/v1/usage?by=${by}`);
  const known = useAnswer<ApiList<ApiUsageSum>>(path);
  return (
    <Answered known={known} path={path}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title="No run ended in this time.">
            <p>
              <Message text="Choose a longer time, or start a run: `metier run <skill> <message>`." />
            </p>
          </Empty>
        ) : (
          <>
            <Totals sums={data} />
            {by === "day" ? <UsageDays sums={data} /> : <UsageTable by={by} sums={data} />}
          </>
        )
      }
    </Answered>
  );
}

function Totals({ sums }: { readonly sums: readonly ApiUsageSum[] }) {
  const total = (name: Exclude<keyof ApiUsageSum, "key">): number =>
    sums.reduce((sum, one) => sum + one[name], 0);
  const unpriced = total("runsWithoutCost");
  return (
    <Figures
      figures={[
        ["Runs", formatNumber(total("runs"))],
        ["Tokens", formatTokens(total("totalTokens"))],
        ["Cost", formatCost(total("cost"))],
        ["Runs without a known price", unpriced > 0 ? formatNumber(unpriced) : undefined],
      ]}
    />
  );
}

function UsageDays({ sums }: { readonly sums: readonly ApiUsageSum[] }) {
  const days = fillDays(sums);
  const points = (name: "runs" | "totalTokens" | "cost") =>
    days.map((day) => ({ label: day.key, value: day[name] }));
  return (
    <div class="columns">
      <Plot title="Runs" points={points("runs")} show={formatNumber} />
      <Plot title="Tokens" points={points("totalTokens")} show={formatTokens} />
      <Plot title="Cost" points={points("cost")} show={formatCost} />
    </div>
  );
}

function UsageTable({ by, sums }: { readonly by: "skill" | "user"; readonly sums: readonly ApiUsageSum[] }) {
  return (
    <FirstRows rows={sums.toSorted((a, b) => b.totalTokens - a.totalTokens || b.runs - a.runs)}>
      {(rows) => (
        <PlainTable
          label={`Usage by ${by}`}
          rows={rows}
          columns={[
            {
              title: by === "skill" ? "Skill" : "User",
              isName: true,
              render: ({ key }) => <Runs by={by} name={key} />,
            },
            { title: "Runs", isNumber: true, render: ({ runs }) => formatNumber(runs) },
            { title: "Tokens", isNumber: true, render: ({ totalTokens }) => formatTokens(totalTokens) },
            { title: "Cost", isNumber: true, render: ({ cost }) => formatCost(cost) },
            { title: "Worked", isNumber: true, render: ({ activeMs }) => formatDuration(activeMs) },
          ]}
        />
      )}
    </FirstRows>
  );
}

function Runs({ by, name }: { readonly by: "skill" | "user"; readonly name: string }) {
  if (name === "") return <span class="soft">none in particular</span>;
  return (
    <a href={linkTo(["runs"], { [by]: name })}>
      <GivenName text={name} />
    </a>
  );
}
