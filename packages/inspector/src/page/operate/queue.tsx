/** What waits and what is being worked on: in total, and for each tenant. */
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
          ["Waiting for a worker", formatNumber(queued)],
          ["In progress", formatNumber(running)],
          ["Waiting for a person or a time", formatNumber(parked)],
          ["Oldest waiting since", oldestAt === undefined ? "none waiting" : <Time at={oldestAt} />],
        ]}
      />
      {tenants.length === 0 ? (
        <p class="soft">Nothing is waiting or in progress.</p>
      ) : (
        <FirstRows rows={tenants.toSorted(byAge)}>
          {(rows) => (
            <PlainTable
              label="Queue of each tenant"
              rows={rows}
              columns={[
                { title: "Tenant", isName: true, render: (tenant) => <TenantName tenant={tenant} /> },
                { title: "Waiting", isNumber: true, render: (tenant) => formatNumber(tenant.queued) },
                { title: "In progress", isNumber: true, render: (tenant) => formatNumber(tenant.running) },
                { title: "Oldest since", render: (tenant) => <Time at={tenant.oldestAt} /> },
              ]}
            />
          )}
        </FirstRows>
      )}
    </Section>
  );
}

/** The tenant that has waited longest comes first; tenants without waiting runs come last. */
function byAge(one: ApiTenantQueue, other: ApiTenantQueue): number {
  const [a, b] = [one.oldestAt ?? "~", other.oldestAt ?? "~"];
  return a < b ? -1 : a > b ? 1 : other.running - one.running;
}

function TenantName({ tenant: { tenant, name } }: { readonly tenant: ApiTenantQueue }) {
  const shown = <GivenName text={name ?? tenant} />;
  return isAdminOfAll(me.value) ? <a href={linkTo(["tenants", tenant])}>{shown}</a> : shown;
}
