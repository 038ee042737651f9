/** Who sees which of the operators' views. The server itself decides what it answers; this only hides links. */
import type { ApiMe } from "@metier/service/api";

const PLATFORM_TENANT = "default";

function holds({ scopes, mode }: ApiMe, scope: string): boolean {
  // `metier inspect` is for one person and their own home: there is nothing to operate.
  return mode === "serve" && (scopes.includes(scope) || scopes.includes("admin"));
}

export function isAdmin(me: ApiMe): boolean {
  return holds(me, "admin");
}

export function isAdminOfAll(me: ApiMe | undefined): boolean {
  return me !== undefined && isAdmin(me) && me.tenant === PLATFORM_TENANT;
}

export function isAdminOfOne(me: ApiMe): boolean {
  return isAdmin(me) && me.tenant !== PLATFORM_TENANT;
}

export function isOperator(me: ApiMe): boolean {
  return holds(me, "operate");
}

/** Workers serve all tenants: only the platform's operators see them. */
export function isOperatorOfAll(me: ApiMe | undefined): boolean {
  return me !== undefined && isOperator(me) && me.tenant === PLATFORM_TENANT;
}

export function isQuotaReader(me: ApiMe): boolean {
  return holds(me, "read");
}
