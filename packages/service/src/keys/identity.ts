/** Who a request is from, taken from its key or token, or from what stands behind its cookie, and from nothing else. */
import type { KeyScope } from "./scopes.ts";

export interface Identity {
  /** Of the key: what the audit log and answers name. */
  readonly keyId: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<KeyScope>;
  /** Whom runs of this key are for; absent: nobody in particular. */
  readonly userId?: string | undefined;
  /** Who it is in the audit log, where people have pseudonyms; absent: the key. */
  readonly actor?: string | undefined;
  /** Of a token: when it ends, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Of a person who came with a cookie instead of the key. */
  readonly signIn?: { readonly id: string; readonly csrf: string } | undefined;
}

/** Of a route that anybody may use. */
export const NOBODY: Identity = { keyId: "", tenant: "", scopes: new Set() };

/** It is always there. Its admins are the platform's. */
export const DEFAULT_TENANT = "default";

/** Under which the service keeps what belongs to no tenant. No tenant is called so. */
export const SYSTEM_TENANT = "@system";

export function isPlatformAdmin({ tenant, scopes }: Pick<Identity, "tenant" | "scopes">): boolean {
  return tenant === DEFAULT_TENANT && scopes.has("admin");
}
