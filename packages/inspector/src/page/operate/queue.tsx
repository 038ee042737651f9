/** What waits and what is worked on: in sum, and for each tenant. */
import type { ApiQueue, ApiTenantQueue } from "@metier/service/api";
import { Figures } from "../design/facts.tsx";
import { Section } from "../design/page.tsx";
import { PlainTable } from "../design/plain-table.tsx";
import { GivenName, Time } from "../design/text.tsx";
import { FirstRows } from "../parts/first-rows.tsx";
import { linkTo } from "../state/address.ts";
import { me } from "../state/answers.ts";
import { formatNumber } from "../state/format.ts";
import { isAdminOfAll } from "./roles.ts";

export function QueueSection({
  queue: { queued, running, parked, oldestAt, tenants },
}: {
  readonly queue: ApiQueue;
}) {
  return (
    <Section title="Queue">
      <Figures
        figures={[
          ["Wait for a worker", formatNumber(queued)],
          ["Worked on", formatNumber(running)],
          ["Wait for a person or a time", formatNumber(parked)],
          ["Oldest has waited since", oldestAt === undefined ? "none waits" : <Time at={oldestAt} />],
        ]}
      />
      {tenants.length === 0 ? (
        <p class="soft">Nothing waits, and nothing is worked on.</p>
      ) : (
        <FirstRows rows={tenants.toSorted(byAge)}>
          {(rows) => (
            <PlainTable
              label="Queue of each tenant"
              rows={rows}
              columns={[
                { title: "Tenant", isName: true, render: (tenant) => <TenantName tenant={tenant} /> },
                { title: "Waiting", isNumber: true, render: (tenant) => formatNumber(tenant.queued) },
                { title: "Worked on", isNumber: true, render: (tenant) => formatNumber(tenant.running) },
                { title: "Oldest since", render: (tenant) => <Time at={tenant.oldestAt} /> },
              ]}
            />
          )}
        </FirstRows>
      )}
    </Section>
  );
}

/** Who has waited longest comes first; then who waits for nothing. */
function byAge(one: ApiTenantQueue, other: ApiTenantQueue): number {
  const [a, b] = [one.oldestAt ?? "~", other.oldestAt ?? "~"];
  return a < b ? -1 : a > b ? 1 : other.running - one.running;
}

function TenantName({ tenant: { tenant, name } }: { readonly tenant: ApiTenantQueue }) {
  const shown = <GivenName text={name ?? tenant} />;
  return isAdminOfAll(me.value) ? <a href={linkTo(["tenants", tenant])}>{shown}</a> : shown;
}
