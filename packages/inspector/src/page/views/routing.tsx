/** Which skills can be mistaken for each other, and what would make one of them win a request. */

import type { ApiRouting } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { FirstRows } from "../parts/first-rows.tsx";
import { ConfusionMatrix } from "../routing/confusion-matrix.tsx";
import { RoutedQueries } from "../routing/routed-queries.tsx";
import { WhyNot } from "../routing/why-not.tsx";
import { linkTo } from "../state/address.ts";
import { isExport, useAnswer } from "../state/answers.ts";
import { formatNumber, formatPercent } from "../state/format.ts";

const PATH = "/v1/routing";
const FIRST = 50;

export function RoutingView() {
  const known = useAnswer<ApiRouting>(PATH);
  return (
    <ViewPage title="Routing" lead="Which skill a request would reach, by the words of the descriptions.">
      <Answered known={known} path={PATH}>
        {(routing) =>
          routing.names.length < 2 ? (
            <Empty title="Fewer than two skills to compare.">
              <p>
                <Message text="`metier new <name>` creates one; `metier install` adds others." />
              </p>
            </Empty>
          ) : (
            <>
              {!isExport && <WhyNot names={routing.names} />}
              {routing.routed?.map((routed) => (
                <RoutedQueries key={routed.by} routed={routed} />
              ))}
              <Pairs pairs={routing.pairs} />
              <Section title="Confusion">
                {routing.matrix ? (
                  <ConfusionMatrix names={routing.names} matrix={routing.matrix} />
                ) : (
                  <p class="soft">{formatNumber(routing.names.length)} skills are too many for a matrix.</p>
                )}
              </Section>
            </>
          )
        }
      </Answered>
    </ViewPage>
  );
}

function Pairs({ pairs }: Pick<ApiRouting, "pairs">) {
  return (
    <Section title="Pairs that can be mistaken for each other">
      {pairs.length === 0 ? (
        <p class="soft">None: every description is distinct.</p>
      ) : (
        <FirstRows rows={pairs} most={FIRST}>
          {(rows) => (
            <PlainTable
              label="Pairs of skills"
              rows={rows}
              columns={[
                {
                  title: "Skills",
                  render: ({ skills }) =>
                    skills.map((name, index) => (
                      <>
                        {index > 0 && " and "}
                        <a href={linkTo(["skill", name])}>{showUnseen(name)}</a>
                      </>
                    )),
                },
                { title: "Verdict", render: ({ verdict }) => <StatusBadge status={verdict} /> },
                { title: "Confusion", isNumber: true, render: ({ confusion }) => formatPercent(confusion) },
                { title: "What to do", render: ({ suggestion }) => <Message text={suggestion} /> },
              ]}
            />
          )}
        </FirstRows>
      )}
    </Section>
  );
}
