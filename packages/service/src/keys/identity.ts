/** Who sent a request, taken only from its key or token, or from what its cookie stands for. */
import type { KeyScope } from "./scopes.ts";

export interface Identity {
  /** The key's id, as shown in the audit log and responses. */
  readonly keyId: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<KeyScope>;
  /** The user of this key's runs; absent: nobody in particular. */
  readonly userId?: string | undefined;
  /** The actor in the audit log, where people have pseudonyms; absent: the key. */
  readonly actor?: string | undefined;
  /** For a token: when it expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** For a person who came with a cookie instead of the key. */
  readonly signIn?: { readonly id: string; readonly csrf: string } | undefined;
}

/** For public routes. */
export const NOBODY: Identity = { keyId: "", tenant: "", scopes: new Set() };

/** It always exists. Its admins are the platform's. */
export const DEFAULT_TENANT = "default";

/** The tenant for what belongs to no tenant. No real tenant has this name. */
export const SYSTEM_TENANT = "@system";

export function isPlatformAdmin({ tenant, scopes }: Pick<Identity, "tenant" | "scopes">): boolean {
  return tenant === DEFAULT_TENANT && scopes.has("admin");
}
