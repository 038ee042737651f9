/** Where a skill comes from, and the default order in which scopes override each other (lowest first). */
export const SCOPES = ["remote", "bundled", "integration", "installed", "custom", "user", "project"] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** `project:deploy` → scope and name; `deploy` → name alone. */
export function parseSkillAddress(address: string): { readonly scope?: Scope; readonly name: string } {
  const colon = address.indexOf(":");
  const scope = address.slice(0, Math.max(colon, 0));
  return isScope(scope) ? { scope, name: address.slice(colon + 1) } : { name: address };
}
