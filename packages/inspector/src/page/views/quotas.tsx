/** A tenant's quotas, how much of them it uses, and what its runs used by day, skill and user. */
import type { ApiQuotas } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Answered } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { showUnseen } from "../design/text.tsx";
import { QuotaBars } from "../operate/quota-bars.tsx";
import { QuotaForm } from "../operate/quota-form.tsx";
import { isAdminOfAll } from "../operate/roles.ts";
import { UsageSection } from "../operate/usage.tsx";
import { UserQuotaTable } from "../operate/user-quotas.tsx";
import { linkTo } from "../state/address.ts";
import { ask, may, me, useAnswer } from "../state/answers.ts";
import type { ViewProps } from "./all-views.ts";

export function Quotas({ rest: [tenant] }: ViewProps) {
  const path = tenant === undefined ? "/v1/quotas" : quotasOf(tenant);
  const known = useAnswer<ApiQuotas>(path);
  const isOwn = tenant === undefined;
  return (
    <ViewPage
      title="Quotas and usage"
      lead={
        isOwn ? (
          "Your tenant's limits, and how much of them it uses."
        ) : (
          <a href={linkTo(["tenants", tenant])}>For {showUnseen(tenant)}</a>
        )
      }
    >
      <Answered known={known} path={path}>
        {(quotas) => (
          <>
            <TenantQuotas quotas={quotas} tenant={tenant ?? me.value?.tenant ?? ""} />
            <UserQuotaTable quotas={quotas} canEdit={isOwn && may("admin")} />
          </>
        )}
      </Answered>
      {isOwn && <UsageSection />}
    </ViewPage>
  );
}

function quotasOf(tenant: string): string {
  return `/v1/tenants/${encodeURIComponent(tenant)}/quotas`;
}

function TenantQuotas({ quotas, tenant }: { readonly quotas: ApiQuotas; readonly tenant: string }) {
  const [isEditing, setEditing] = useState(false);
  return (
    <Section
      title="Tenant"
      actions={isAdminOfAll(me.value) && <Button onPress={() => setEditing(true)}>Edit</Button>}
    >
      {isEditing && (
        <QuotaForm
          title="Quotas of the tenant"
          of="tenant"
          limits={quotas.tenant}
          save={(limits) => ask(quotasOf(tenant), "PUT", limits)}
          onClose={() => setEditing(false)}
        />
      )}
      <QuotaBars quotas={quotas} />
    </Section>
  );
}
