/** Where requests with a known right skill went. */

import type { ApiRouted } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { showUnseen } from "../design/text.tsx";

export function RoutedQueries({ routed: { by, passed, total, queries } }: { readonly routed: ApiRouted }) {
  return (
    <Section title={`By ${by === "words" ? "words alone" : showUnseen(by)}: ${passed} of ${total} right`}>
      <PlainTable
        label={`Queries by ${by}`}
        rows={queries}
        columns={[
          {
            title: "Result",
            render: ({ isRight }) => (
              <Badge tone={isRight ? "good" : "bad"}>{isRight ? "right" : "wrong"}</Badge>
            ),
          },
          { title: "Query", render: ({ query }) => showUnseen(query) },
          { title: "For", render: ({ wanted }) => showUnseen(wanted) },
          { title: "Chosen", render: ({ chosen }) => showUnseen(chosen) },
        ]}
      />
    </Section>
  );
}
