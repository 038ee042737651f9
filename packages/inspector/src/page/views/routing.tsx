/** Which skills can be mistaken for each other, and what would make one of them win a request. */

import type { ApiRouting } from "@metier/service/api";
import { useState } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { Message, showUnseen } from "../design/text.tsx";
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
    <ViewPage
      title="Routing"
      lead="Which skill a request would reach, judged by the words of their descriptions."
    >
      <Answered known={known} path={PATH}>
        {(routing) =>
          routing.names.length < 2 ? (
            <Empty title="There are fewer than two skills to tell apart.">
              <p>
                <Message text="`metier new <name>` makes one; `metier install` brings others." />
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
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? pairs : pairs.slice(0, FIRST);
  return (
    <Section title="Pairs that can be mistaken for each other">
      {pairs.length === 0 ? (
        <p class="soft">None: every description stands for itself.</p>
      ) : (
        <div class="scrolls" role="region" aria-label="Pairs of skills" tabIndex={0}>
          <table class="plain-table">
            <thead>
              <tr>
                <th scope="col">Skills</th>
                <th scope="col">Verdict</th>
                <th scope="col" class="number">
                  Confusion
                </th>
                <th scope="col">What to do</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ skills, verdict, confusion, suggestion }) => (
                <tr key={skills.join(" ")}>
                  <td>
                    {skills.map((name, index) => (
                      <>
                        {index > 0 && " and "}
                        <a href={linkTo(["skill", name])}>{showUnseen(name)}</a>
                      </>
                    ))}
                  </td>
                  <td>
                    <StatusBadge status={verdict} />
                  </td>
                  <td class="number">{formatPercent(confusion)}</td>
                  <td>
                    <Message text={suggestion} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length < pairs.length && (
        <p>
          <button type="button" class="button plain" onClick={() => setWhole(true)}>
            Show all {formatNumber(pairs.length)}
          </button>
        </p>
      )}
    </Section>
  );
}
