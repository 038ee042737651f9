/** The latest runs of a skill. */
import type { ApiList, ApiRunSummary, ApiSkill } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatCost, formatDuration, formatTokens } from "../state/format.ts";

export function RunsTab({ skill: { name } }: { readonly skill: Pick<ApiSkill, "name"> }) {
  const path = `/v1/runs?${new URLSearchParams({ skill: name })}`;
  const known = useAnswer<ApiList<ApiRunSummary>>(path);
  return (
    <Section
      title="Latest runs"
      actions={<a href={linkTo(["runs"], { skill: name })}>All runs of this skill</a>}
    >
      <Answered known={known} path={path}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="It has no runs yet.">
              <p>
                Start one in the <a href={linkTo(["playground"], { skill: name })}>playground</a>, or with{" "}
                <code>metier run {showUnseen(name)}</code>.
              </p>
            </Empty>
          ) : (
            <RunRows runs={data} />
          )
        }
      </Answered>
    </Section>
  );
}

function RunRows({ runs }: { readonly runs: readonly ApiRunSummary[] }) {
  return (
    <div class="scrolls" tabIndex={0} role="region" aria-label="Latest runs">
      <table class="plain-table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Started</th>
            <th scope="col" class="number">
              Worked
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map(({ id, status, createdAt, activeMs, usage, cost }) => (
            <tr key={id}>
              <th scope="row">
                <a href={linkTo(["run", id])}>{showUnseen(id)}</a>
              </th>
              <td>
                <StatusBadge status={status} />
              </td>
              <td>
                <Time at={createdAt} />
              </td>
              <td class="number">{formatDuration(activeMs)}</td>
              <td class="number">{usage ? formatTokens(usage.totalTokens) : "–"}</td>
              <td class="number">{formatCost(cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
