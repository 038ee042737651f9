/** What other programs that read Agent Skills make of this one. */
import type { ApiSkill } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Message } from "../design/text.tsx";

export function ClientsTab({ skill: { clients } }: { readonly skill: Pick<ApiSkill, "clients"> }) {
  if (clients.length === 0) {
    return (
      <Empty title="Nothing is known of other clients.">
        <p>
          Ask with <code>metier compat</code>.
        </p>
      </Empty>
    );
  }
  return (
    <Section title="In other clients">
      <div class="scrolls" tabIndex={0} role="region" aria-label="Other clients">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Client</th>
              <th scope="col">Verdict</th>
              <th scope="col">Remarks</th>
            </tr>
          </thead>
          <tbody>
            {clients.map(({ client, name, verdict, remarks }) => (
              <tr key={client}>
                <th scope="row">{name}</th>
                <td>
                  <StatusBadge status={verdict} />
                </td>
                <td>
                  {[...new Set(remarks)].map((remark) => (
                    <p key={remark}>
                      <Message text={remark} />
                    </p>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}
