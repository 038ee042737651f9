/**
 * Who someone is according to their issuer: a user of one tenant, in one role. Nothing is assumed: without an existing
 * tenant and a known role, nobody gets in.
 */
import { done, type Refused, type Result } from "@metier/base/result";
import { showNames, showValue } from "@metier/base/text";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { TenantStore } from "../tenants/tenant-store.ts";
import type { OidcSettings } from "./oidc-settings.ts";
import { KEY_ROLES, type KeyRole } from "./scopes.ts";

const MOST_USER = 256;
const MOST_ROLES = 1_000;
const HINT = "Ask whoever manages your identity provider to correct it.";

/** Of a signed token. */
type Claims = Readonly<Record<string, unknown>>;

export interface OidcPerson {
  readonly tenant: string;
  readonly userId: string;
  readonly role: KeyRole;
}

interface PersonParts {
  readonly settings: Pick<OidcSettings, "tenantClaim" | "roleClaim">;
  readonly tenants: Pick<TenantStore, "find">;
}

export async function readPerson(
  { settings: { tenantClaim, roleClaim }, tenants }: PersonParts,
  claims: Claims,
): Promise<Result<OidcPerson, HttpRefusal>> {
  const userId = claims.sub;
  if (typeof userId !== "string" || userId === "" || userId.length > MOST_USER) {
    return refuseClaim("sub", `is not a string of 1 to ${MOST_USER} characters`);
  }
  const named = readClaim(claims, tenantClaim);
  if (named === undefined) return refuseClaim(tenantClaim, "is missing; it must name a tenant");
  if (typeof named !== "string") return refuseClaim(tenantClaim, "is not the id or name of one tenant");
  const tenant = await tenants.find(named);
  if (tenant?.status !== "active")
    return refuseClaim(tenantClaim, `is ${showValue(named)}, which is not a tenant`);
  const given = readClaim(claims, roleClaim);
  if (given === undefined) return refuseClaim(roleClaim, `is missing; it must be one of ${ROLES}`);
  const role = highestRole(given);
  if (role === undefined) return refuseClaim(roleClaim, `has none of the roles ${ROLES}`);
  return done({ tenant: tenant.id, userId, role });
}

const ROLES = showNames(KEY_ROLES);

/** One role, or a list in which others may stand, too. */
function highestRole(given: unknown): KeyRole | undefined {
  const roles: readonly unknown[] = Array.isArray(given) ? given.slice(0, MOST_ROLES) : [given];
  return KEY_ROLES.findLast((role) => roles.includes(role));
}

function readClaim(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}

function refuseClaim(claim: string, why: string): Refused<HttpRefusal> {
  const message = `You are signed in, but your permissions are unclear: the claim \`${claim}\` in your token ${why}.`;
  return refuse(403, "claim_refused", message, HINT);
}
