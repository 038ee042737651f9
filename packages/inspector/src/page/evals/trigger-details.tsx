/** How often a model used a skill for requests that are for it, and for those that are not. */
import { Badge } from "../design/badge.tsx";
import { Figures } from "../design/facts.tsx";
import { CheckField } from "../design/field.tsx";
import { Section } from "../design/page.tsx";
import { showUnseen } from "../design/text.tsx";
import { address, changeQuery } from "../state/address.ts";
import { countOf, formatPercent } from "../state/format.ts";
import type { TriggerQueryResult, TriggerResults } from "./triggers.ts";

export function TriggerDetails({ triggers }: { readonly triggers: TriggerResults }) {
  const { model, runs, threshold, isReplayed, sets, queries } = triggers;
  const isOnlyWrong = address.value.query.get("show") === "wrong";
  const shown = queries.filter(({ isRight }) => !isOnlyWrong || !isRight);
  return (
    <>
      <p class="soft">
        {countOf(queries.length, "query", "queries")}, {countOf(runs, "run")} each, by{" "}
        {model || "an unknown model"}
        {isReplayed && ", replayed"}. A query has triggered from {formatPercent(threshold)} of its runs on.
      </p>
      <Figures
        figures={sets.map(({ name, passed, total }) => [
          `Right, ${name}`,
          total === 0 ? "–" : `${passed} of ${total}`,
        ])}
      />
      <Section title="Every query">
        <CheckField
          label="Only those that went wrong"
          isChecked={isOnlyWrong}
          onChange={(isChecked) => changeQuery({ show: isChecked ? "wrong" : undefined })}
        />
        <div class="scrolls" role="region" aria-label="Queries" tabIndex={0}>
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">Result</th>
                <th scope="col">Query</th>
                <th scope="col">Should</th>
                <th scope="col" class="number">
                  Triggered
                </th>
                <th scope="col">Set</th>
                <th scope="col">Instead</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((query, index) => (
                <QueryRow key={`${index} ${query.query}`} query={query} />
              ))}
            </tbody>
          </table>
        </div>
      </Section>
    </>
  );
}

function QueryRow({
  query: { query, shouldTrigger, rate, set, isRight, instead },
}: {
  readonly query: TriggerQueryResult;
}) {
  return (
    <tr>
      <td>
        <Badge tone={isRight ? "good" : "bad"}>{isRight ? "right" : "wrong"}</Badge>
      </td>
      <td>{showUnseen(query)}</td>
      <td>{shouldTrigger ? "trigger" : "not trigger"}</td>
      <td class="number">{formatPercent(rate)}</td>
      <td>{set}</td>
      <td>{showUnseen(instead.join(", "))}</td>
    </tr>
  );
}
