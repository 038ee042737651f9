/** Which tenant a request is about, if it may name one: the caller's, or any for the platform's admins. */
import { done, type Result } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { type Identity, isPlatformAdmin } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import type { Tenant } from "./tenant-store.ts";

/** Its id. Callers who may not see other tenants don't learn whether one exists. */
export async function resolveTenant(
  { tenants }: Pick<ServiceContext, "tenants">,
  identity: Identity,
  named: string | undefined,
): Promise<Result<string, HttpRefusal>> {
  if (named === undefined || named === identity.tenant) return done(identity.tenant);
  const found = await tenants.find(named);
  if (found?.id === identity.tenant) return done(found.id);
  if (!isPlatformAdmin(identity)) {
    const message = `This key cannot act for the tenant ${showValue(named)}: it only works for its own tenant.`;
    return refuse(403, "platform_only", message, "Leave `tenant` out, or ask an admin of the whole service.");
  }
  return found === undefined ? refuseUnknownTenant(named) : done(found.id);
}

/** A tenant that can get something new. */
export function requireActive(tenant: Tenant | undefined, named: string): Result<Tenant, HttpRefusal> {
  if (tenant === undefined) return refuseUnknownTenant(named);
  if (tenant.status === "active") return done(tenant);
  const message = `The tenant \`${tenant.name}\` is being deleted.`;
  return refuse(409, "tenant_deleting", message, "Wait until it is gone, then create a new one.");
}

/** The id of the tenant that a path names: only for routes of the platform's admins. */
export async function findNamedTenant(
  { tenants }: Pick<ServiceContext, "tenants">,
  named: string,
): Promise<Result<string, HttpRefusal>> {
  const found = await tenants.find(named);
  return found === undefined ? refuseUnknownTenant(named) : done(found.id);
}

export function refuseUnknownTenant(named: string): Result<never, HttpRefusal> {
  const message = `No tenant has the id or name ${showValue(named)}.`;
  return refuse(404, "not_found", message, "List them with `GET /v1/tenants`.");
}
