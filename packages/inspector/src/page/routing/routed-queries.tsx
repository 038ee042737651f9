/** Where requests went that somebody wrote down with the skill they are for. */
import type { ApiRouted } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Section } from "../design/page.tsx";
import { showUnseen } from "../design/text.tsx";

export function RoutedQueries({ routed: { by, passed, total, queries } }: { readonly routed: ApiRouted }) {
  return (
    <Section title={`By ${by === "words" ? "words alone" : showUnseen(by)}: ${passed} of ${total} right`}>
      <div class="scrolls" role="region" aria-label={`Queries by ${by}`} tabIndex={0}>
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Result</th>
              <th scope="col">Query</th>
              <th scope="col">For</th>
              <th scope="col">Chosen</th>
            </tr>
          </thead>
          <tbody>
            {queries.map(({ query, wanted, chosen, isRight }, index) => (
              <tr key={`${index} ${query}`}>
                <td>
                  <Badge tone={isRight ? "good" : "bad"}>{isRight ? "right" : "wrong"}</Badge>
                </td>
                <td>{showUnseen(query)}</td>
                <td>{showUnseen(wanted)}</td>
                <td>{showUnseen(chosen)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
