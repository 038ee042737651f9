/** Who a request is from, taken from its key, or from the key behind its cookie, and from nothing else. */
import type { KeyScope } from "./scopes.ts";

export interface Identity {
  /** Of the key: what the audit log and answers name. */
  readonly keyId: string;
  readonly tenant: string;
  readonly scopes: ReadonlySet<KeyScope>;
  /** Whom runs of this key are for; absent: nobody in particular. */
  readonly userId?: string | undefined;
  /** Of a person who came with a cookie instead of the key. */
  readonly signIn?: { readonly id: string; readonly csrf: string } | undefined;
}

/** Of a route that anybody may use. */
export const NOBODY: Identity = { keyId: "", tenant: "", scopes: new Set() };

/** Of the service on one machine, until a key says otherwise. */
export const DEFAULT_TENANT = "default";
