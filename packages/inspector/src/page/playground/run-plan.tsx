/** What a run would do: tools with their rules, reach, limits and prompt; or why it would be refused. */

import type { JsonObject } from "@metier/base/json";
import type { ApiPlan } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Facts } from "../design/facts.tsx";
import { Notice } from "../design/notice.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { Code, Message, showUnseen } from "../design/text.tsx";
import { ProblemList } from "../parts/problem-list.tsx";
import { compareWishes, showLimits } from "./plan-lines.ts";

type Plan = Extract<ApiPlan, { ok: true }>;

export function RunPlan({ plan }: { readonly plan: ApiPlan }) {
  if (!plan.ok) {
    return (
      <Notice tone="bad" title="This run would be refused.">
        <p>
          <Message text={plan.message} />
        </p>
        {plan.hint && (
          <p>
            <Message text={plan.hint} />
          </p>
        )}
      </Notice>
    );
  }
  return (
    <div class="stack">
      <Facts
        facts={[
          ["Model", <code key="model">{showUnseen(plan.model)}</code>],
          ["Trust", <TrustLine key="trust" plan={plan} />],
          ["Sandbox", showUnseen(plan.backend)],
          ["Variables", listed(plan.env)],
          ["Capabilities", listed(plan.capabilities)],
          ["Hooks", listed(plan.hooks)],
          ...showLimits(plan.limits),
        ]}
      />
      {plan.diagnostics.length > 0 && <ProblemList diagnostics={plan.diagnostics} />}
      <Tools tools={plan.tools} />
      <Reach declared={plan.declared} granted={plan.granted} />
      <Prompts system={plan.system} message={plan.message} />
    </div>
  );
}

function TrustLine({ plan: { trust, trustReason } }: { readonly plan: Plan }) {
  return (
    <>
      {trust}: <Message text={trustReason} />
    </>
  );
}

/** `undefined` leaves the line out. */
function listed(names: readonly string[]) {
  return names.length === 0 ? undefined : names.map(showUnseen).join(", ");
}

const TONES = { allow: "good", ask: "warn", deny: "bad" } as const;

function Tools({ tools }: Pick<Plan, "tools">) {
  if (tools.length === 0) return <p class="soft">It gets no tools.</p>;
  return (
    <PlainTable
      label="Tools and the rule for each"
      rows={tools}
      columns={[
        { title: "Tool", isName: true, render: ({ name }) => <code>{showUnseen(name)}</code> },
        { title: "Decision", render: ({ decision }) => <Badge tone={TONES[decision]}>{decision}</Badge> },
        { title: "Rule", render: ({ rule }) => <Message text={rule} /> },
      ]}
    />
  );
}

function Reach(reach: { readonly declared: JsonObject; readonly granted: JsonObject }) {
  const wishes = compareWishes(reach);
  if (wishes.length === 0) return <p class="soft">It can reach only its own work folder.</p>;
  return (
    <PlainTable
      label="What it asks for, and what it gets"
      rows={wishes}
      columns={[
        {
          title: "Reach",
          isName: true,
          render: ({ kind, item }) => (
            <>
              {showUnseen(kind)} <code>{showUnseen(item)}</code>
            </>
          ),
        },
        { title: "Declared", render: ({ isDeclared }) => (isDeclared ? "yes" : "no") },
        {
          title: "Granted",
          render: ({ isGranted }) => (
            <Badge tone={isGranted ? "good" : "warn"}>{isGranted ? "granted" : "not granted"}</Badge>
          ),
        },
      ]}
    />
  );
}

/** A user who may not see the server's setup gets no system prompt. */
function Prompts({ system, message }: Pick<Plan, "system" | "message">) {
  return (
    <div class="stack tight">
      {system !== "" && (
        <details>
          <summary>System prompt</summary>
          <Code text={system} label="System prompt" />
        </details>
      )}
      <details>
        <summary>First message</summary>
        <Code text={message} label="First message" />
      </details>
    </div>
  );
}
