/** Named, versioned sets of instructions, model, skills and limits: all of them, and the versions of one. */

import type { ApiAgent, ApiList } from "@metier/service/api";
import { Facts } from "../design/facts.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { JsonText, Message, showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import type { ViewProps } from "./all-views.ts";

const PATH = "/v1/agents?limit=100";

export function Agents({ rest: [name] }: ViewProps) {
  return name === undefined ? <AgentList /> : <AgentVersions name={name} />;
}

function AgentList() {
  const known = useAnswer<ApiList<ApiAgent>>(PATH);
  return (
    <ViewPage title="Agents" lead="Each change creates a new version; runs keep the one they started with.">
      <Answered known={known} path={PATH}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title="No agents yet.">
              <p>
                <Message text="Create one with `POST /v1/agents`: a name and instructions are enough." />
              </p>
            </Empty>
          ) : (
            <PlainTable
              label="Agents"
              rows={data}
              columns={[
                {
                  title: "Name",
                  render: ({ name }) => <a href={linkTo(["agents", name])}>{showUnseen(name)}</a>,
                },
                { title: "Version", isNumber: true, render: ({ version }) => version },
                {
                  title: "Model",
                  render: (agent) => showUnseen(textOf(agent, "model") ?? "server default"),
                },
                { title: "Changed", render: ({ createdAt }) => <Time at={createdAt} /> },
              ]}
            />
          )
        }
      </Answered>
    </ViewPage>
  );
}

function AgentVersions({ name }: { readonly name: string }) {
  const path = `/v1/agents/${encodeURIComponent(name)}/versions`;
  const known = useAnswer<ApiList<ApiAgent>>(path);
  return (
    <ViewPage title={showUnseen(name)} lead={<a href={linkTo(["runs"], { agent: name })}>Its runs</a>}>
      <Answered known={known} path={path}>
        {({ data }) => (
          <>
            {data.toReversed().map((agent) => (
              <Section key={agent.version} title={`Version ${agent.version}`}>
                <Facts
                  facts={[
                    ["Created", <Time at={agent.createdAt} />],
                    ["Model", textOf(agent, "model") && showUnseen(textOf(agent, "model") ?? "")],
                  ]}
                />
                <Markdown text={textOf(agent, "instructions") ?? ""} />
                <details>
                  <summary>All fields</summary>
                  <JsonText value={agent.definition} label="Definition" />
                </details>
              </Section>
            ))}
          </>
        )}
      </Answered>
    </ViewPage>
  );
}

function textOf({ definition }: ApiAgent, field: string): string | undefined {
  const value = definition[field];
  return typeof value === "string" ? value : undefined;
}
