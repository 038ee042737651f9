/** The latest runs of a skill. */
import type { ApiList, ApiRunSummary, ApiSkill } from "@metier/service/api";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { showUnseen } from "../design/text.tsx";
import { RunTable } from "../parts/run-table.tsx";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";

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
            <RunTable runs={data} />
          )
        }
      </Answered>
    </Section>
  );
}
