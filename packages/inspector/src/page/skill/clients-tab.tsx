/** How other clients read this skill. */

import type { ApiSkill } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { Message } from "../design/text.tsx";

export function ClientsTab({ skill: { clients } }: { readonly skill: Pick<ApiSkill, "clients"> }) {
  if (clients.length === 0) {
    return (
      <Empty title="Nothing is known about other clients.">
        <p>
          Check with <code>metier compat</code>.
        </p>
      </Empty>
    );
  }
  return (
    <Section title="In other clients">
      <PlainTable
        label="Other clients"
        rows={clients}
        columns={[
          { title: "Client", isName: true, render: ({ name }) => name },
          { title: "Verdict", render: ({ verdict }) => <StatusBadge status={verdict} /> },
          {
            title: "Remarks",
            render: ({ remarks }) =>
              [...new Set(remarks)].map((remark) => (
                <p key={remark}>
                  <Message text={remark} />
                </p>
              )),
          },
        ]}
      />
    </Section>
  );
}
