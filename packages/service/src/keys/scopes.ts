/** What a key may do, and the roles that stand for common sets of scopes. */

export const KEY_SCOPES = ["read", "files", "run", "approve", "write", "operate", "admin"] as const;

/**
 * `read`: see runs, skills and the rest. `files`: see the content of a run's files, which aren't redacted: a tool may
 * have written a secret there. `run`: start and cancel runs, answer their questions. `approve`: decide tool calls.
 * `write`: change skills, agents, schedules and secrets. `operate`: see workers and the queue, drain a worker. `admin`:
 * keys, users, quotas, audit, trust in uploaded skills; includes all others. An admin of the tenant `default` is the
 * platform's admin, who also manages tenants.
 */
export type KeyScope = (typeof KEY_SCOPES)[number];

export const KEY_ROLES = ["viewer", "member", "operator", "admin"] as const;

export type KeyRole = (typeof KEY_ROLES)[number];

export const ROLE_SCOPES: Readonly<Record<KeyRole, readonly KeyScope[]>> = {
  viewer: ["read"],
  member: ["read", "files", "run"],
  operator: ["read", "files", "run", "approve", "write", "operate"],
  admin: KEY_SCOPES,
};

export function isKeyScope(scope: string): scope is KeyScope {
  return (KEY_SCOPES as readonly string[]).includes(scope);
}

export function holdsScope(held: ReadonlySet<KeyScope>, needed: KeyScope): boolean {
  return held.has("admin") || held.has(needed);
}
