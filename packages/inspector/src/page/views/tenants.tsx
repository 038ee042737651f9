/** For the platform's admins: all tenants; and one of them, with its keys. */
import type { ApiTenant } from "@metier/service/api";
import { useMemo, useState } from "preact/hooks";
import { StatusBadge } from "../design/badge.tsx";
import { Button, LinkButton } from "../design/button.tsx";
import { TextField } from "../design/field.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { Table } from "../design/table.tsx";
import { showUnseen, Time } from "../design/text.tsx";
import { DeleteTenant } from "../operate/delete-tenant.tsx";
import { KeyList } from "../operate/key-list.tsx";
import { NewTenant } from "../operate/new-tenant.tsx";
import { isAdminOfAll } from "../operate/roles.ts";
import { MorePages } from "../parts/more-pages.tsx";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { me, useAnswer } from "../state/answers.ts";
import { usePages } from "../state/pages.ts";
import type { ViewProps } from "./all-views.ts";

const PATH = "/v1/tenants?limit=500";

export function Tenants({ rest: [id] }: ViewProps) {
  return id === undefined ? <TenantList /> : <TenantPage id={id} />;
}

function TenantList() {
  const pages = usePages<ApiTenant>(PATH);
  const [isMaking, setMaking] = useState(false);
  const words = (address.value.query.get("q") ?? "").toLowerCase();
  const shown = useMemo(
    () => pages.items.filter(({ id, name }) => `${name}\n${id}`.toLowerCase().includes(words)),
    [pages.items, words],
  );
  return (
    <ViewPage
      title="Tenants and keys"
      lead="Each tenant has its own runs, skills, keys and secrets, and can't see those of others."
      actions={
        isAdminOfAll(me.value) && (
          <Button kind="accent" onPress={() => setMaking(true)}>
            New tenant
          </Button>
        )
      }
    >
      {isMaking && <NewTenant onClose={() => setMaking(false)} />}
      {pages.items.length > 0 && (
        <>
          <TextField
            label="Search"
            type="search"
            isSearch
            value={address.value.query.get("q") ?? ""}
            placeholder="Name or id"
            onInput={(q) => changeQuery({ q })}
          />
          {shown.length === 0 ? <Empty title="No tenant matches." /> : <TenantTable tenants={shown} />}
        </>
      )}
      <MorePages pages={pages} noun="tenant" />
    </ViewPage>
  );
}

function TenantTable({ tenants }: { readonly tenants: readonly ApiTenant[] }) {
  return (
    <div class={tenants.length < 12 ? "run-table short" : "run-table"}>
      <Table
        label="Tenants"
        rows={tenants}
        keyOf={({ id }) => id}
        linkOf={({ id }) => linkTo(["tenants", id])}
        columns={[
          { title: "Name", width: "minmax(0, 2fr)", render: ({ name }) => showUnseen(name) },
          {
            title: "Id",
            width: "minmax(0, 1fr)",
            isMinor: true,
            render: ({ id }) => <code>{showUnseen(id)}</code>,
          },
          { title: "Created", width: "7rem", render: ({ createdAt }) => <Time at={createdAt} /> },
          { title: "State", width: "6rem", render: ({ status }) => <StatusBadge status={status} /> },
        ]}
      />
    </div>
  );
}

/** `id`: or the name. */
function TenantPage({ id }: { readonly id: string }) {
  const path = `/v1/tenants/${encodeURIComponent(id)}`;
  const known = useAnswer<ApiTenant>(path);
  const [isDeleting, setDeleting] = useState(false);
  const tenant = known.value;
  return (
    <ViewPage
      title={showUnseen(tenant?.name ?? id)}
      mark={tenant?.status === "deleting" && <StatusBadge status={tenant.status} />}
      lead={tenant && <TenantFacts tenant={tenant} />}
      actions={
        tenant && (
          <>
            <LinkButton href={linkTo(["quotas", tenant.id])}>Its quotas</LinkButton>
            {tenant.id !== me.value?.tenant && (
              <Button kind="danger" onPress={() => setDeleting(true)}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <Answered known={known} path={path}>
        {(one) => (
          <>
            {isDeleting && <DeleteTenant tenant={one} onClose={() => setDeleting(false)} />}
            <KeyList tenant={one.id} />
          </>
        )}
      </Answered>
    </ViewPage>
  );
}

function TenantFacts({ tenant: { id, createdAt } }: { readonly tenant: ApiTenant }) {
  return (
    <>
      Tenant <code>{showUnseen(id)}</code>, created <Time at={createdAt} />
    </>
  );
}
