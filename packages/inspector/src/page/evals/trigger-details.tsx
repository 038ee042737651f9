/** How often a model used a skill for requests that are for it, and for requests that aren't. */

import { Badge } from "../design/badge.tsx";
import { Figures } from "../design/facts.tsx";
import { CheckField } from "../design/field.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { showUnseen } from "../design/text.tsx";
import { address, changeQuery } from "../state/address.ts";
import { countOf, formatPercent } from "../state/format.ts";
import type { TriggerResults } from "./triggers.ts";

export function TriggerDetails({ triggers }: { readonly triggers: TriggerResults }) {
  const { model, runs, threshold, isReplayed, sets, queries } = triggers;
  const isOnlyWrong = address.value.query.get("show") === "wrong";
  const shown = queries.filter(({ isRight }) => !isOnlyWrong || !isRight);
  return (
    <>
      <p class="soft">
        {countOf(queries.length, "query", "queries")}, {countOf(runs, "run")} each, by{" "}
        {model || "an unknown model"}
        {isReplayed && ", replayed"}. A query triggers at {formatPercent(threshold)} of its runs or more.
      </p>
      <Figures
        figures={sets.map(({ name, passed, total }) => [
          `Right, ${name}`,
          total === 0 ? "–" : `${passed} of ${total}`,
        ])}
      />
      <Section title="Every query">
        <CheckField
          label="Only wrong ones"
          isChecked={isOnlyWrong}
          onChange={(isChecked) => changeQuery({ show: isChecked ? "wrong" : undefined })}
        />
        <PlainTable
          label="Queries"
          rows={shown}
          columns={[
            {
              title: "Result",
              render: ({ isRight }) => (
                <Badge tone={isRight ? "good" : "bad"}>{isRight ? "right" : "wrong"}</Badge>
              ),
            },
            { title: "Query", render: ({ query }) => showUnseen(query) },
            { title: "Should", render: ({ shouldTrigger }) => (shouldTrigger ? "trigger" : "not trigger") },
            { title: "Triggered", isNumber: true, render: ({ rate }) => formatPercent(rate) },
            { title: "Set", render: ({ set }) => set },
            { title: "Instead", render: ({ instead }) => showUnseen(instead.join(", ")) },
          ]}
        />
      </Section>
    </>
  );
}
