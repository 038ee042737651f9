/**
 * The port that every provider fills: a subprocess that speaks `bridge-v1`, an MCP server, or an object of the embedding
 * program. The broker trusts nothing of what comes back: definitions, outputs and sign-ins are all checked by it.
 */
import type { CapabilityCaller, JsonObject, LinkedAccount } from "./capability.ts";
import type { Answer } from "./capability-fault.ts";

export interface CapabilityProvider {
  /** The first part of the ids of all its capabilities. */
  readonly namespace: string;
  /** As the provider writes them, list or map; `read-definitions.ts` makes definitions of them. */
  definitions(signal?: AbortSignal): Promise<Answer<unknown>>;
  invoke(request: ProviderInvocation, context: ProviderContext): Promise<Answer<JsonObject>>;
  /** A provider without these has no operation that requires a sign-in. */
  authBegin?(request: AuthBeginRequest, context: ProviderContext): Promise<Answer<BegunAuth>>;
  authComplete?(request: AuthCompleteRequest, context: ProviderContext): Promise<Answer<AuthorizedAccount>>;
  authPoll?(request: AuthPollRequest, context: ProviderContext): Promise<Answer<AuthPoll>>;
  /** The account is no longer linked: what is kept for it can go. */
  forget?(account: ProviderAccount, context: ProviderContext): Promise<void>;
  close?(): Promise<void>;
}

export interface ProviderContext {
  readonly caller: CapabilityCaller;
  /** For a provider in another process: says who the caller is, for this provider alone, and soon ends. */
  token(): Promise<string>;
  /** What this provider keeps for this user; opaque references are all that leaves it. */
  readonly vault: ProviderVault;
  readonly signal: AbortSignal;
}

/** Secrets of one provider for one user. A reference of another user or provider is unknown here. */
export interface ProviderVault {
  put(secret: JsonObject): Promise<string>;
  get(ref: string): Promise<JsonObject | undefined>;
  replace(ref: string, secret: JsonObject): Promise<boolean>;
  delete(ref: string): Promise<boolean>;
}

export interface ProviderInvocation {
  readonly capabilityId: string;
  readonly operation: string;
  readonly input: JsonObject;
  readonly account?: ProviderAccount;
  readonly idempotencyKey?: string;
}

export interface ProviderAccount extends LinkedAccount {
  /** What the provider gave when the account was linked: references, never a credential itself. */
  readonly credentialMaterial: JsonObject;
  readonly metadata: JsonObject;
}

export type FlowType = "authorization_code" | "device_code";

export interface AuthBeginRequest {
  readonly capabilityId: string;
  readonly accountHint?: string;
  /** Where the host listens for the browser, when it does; RFC 8252. */
  readonly redirectUri?: string;
}

export interface BegunAuth {
  readonly authUrl: string;
  readonly flowType: FlowType;
  /** ISO 8601. Absent: the broker's own limit. */
  readonly expiresAt?: string;
  /** Given back at completion; kept in the vault until then. */
  readonly flowState: JsonObject;
  readonly userCode?: string;
  readonly pollIntervalSeconds?: number;
  /** The `state` that the callback must carry. */
  readonly expectedCallbackState?: string;
}

export interface AuthCompleteRequest {
  readonly capabilityId: string;
  readonly flowState: JsonObject;
  readonly authorizationCode: string;
  readonly rawCallbackUrl?: string;
  readonly state?: string;
}

export interface AuthorizedAccount {
  readonly accountRef: string;
  readonly credentialMaterial: JsonObject;
  /** `account_name` and `account_email` are shown to the user. */
  readonly metadata: JsonObject;
}

export interface AuthPollRequest {
  readonly capabilityId: string;
  readonly flowState: JsonObject;
}

export type AuthPoll =
  | { readonly status: "pending"; readonly retryAfterSeconds: number; readonly flowState?: JsonObject }
  | { readonly status: "complete"; readonly account: AuthorizedAccount };
