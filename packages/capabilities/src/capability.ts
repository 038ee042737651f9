/**
 * The vocabulary of capabilities: what a provider offers, who an operation is for, and which accounts a user has
 * linked. A capability is an operation on a sensitive system that the host performs; no credential enters a run.
 */
import { type JsonObject, presentFields } from "@metier/base/json";

/** One operation of a capability, such as reading or sending a message. */
export interface CapabilityOperation {
  /** Unique in its capability: letters, digits, `_`, `.` and `-`, at most 128 characters. */
  readonly name: string;
  /** What the operation does, for models and people. Empty if the provider gives none. */
  readonly description: string;
  /** Needs a linked account. Default: `true` if the provider can sign users in. */
  readonly requiresAuth: boolean;
  /** Changes something outside: a person confirms it, and it is recorded before and after. Default: `false`. */
  readonly mutating: boolean;
  /** The provider promises that a second call with the same idempotency key changes nothing more. Default: `false`. */
  readonly idempotent: boolean;
  /** JSON Schema of the caller's input. Absent: any JSON object. */
  readonly inputSchema?: JsonObject;
  /** JSON Schema of the provider's output. Absent: any JSON object. */
  readonly outputSchema?: JsonObject;
}

/** A capability as its provider defines it, already checked. */
export interface CapabilityDefinition {
  /** `namespace.name`, where the namespace is the provider's. */
  readonly id: string;
  /** What the capability is for, for models and people. Never empty. */
  readonly description: string;
  /** Only in private chats, unless `allowedChatTypes` says otherwise. */
  readonly sensitive: boolean;
  /** In lowercase. Absent: the provider does not say. */
  readonly allowedChatTypes?: readonly string[];
  /** Sorted by name; at least one. */
  readonly operations: readonly CapabilityOperation[];
}

/**
 * Who an operation is for. Made only from a verified token or by the embedding program: nothing a run says about itself
 * ends up here.
 */
export interface CapabilityCaller {
  /** The user whose linked accounts, sign-ins and vault are used. */
  readonly userId: string;
  /** Id of the chat in the chat program. */
  readonly chatId?: string;
  /** Type of the chat, such as `private`, compared with `allowedChatTypes` in lower case. */
  readonly chatType?: string;
  /** Title of the chat as shown to people. */
  readonly chatTitle?: string;
  /** The chat program, such as `telegram`. */
  readonly provider?: string;
  /** Id of the session that the request belongs to. */
  readonly sessionKey?: string;
  /** Id of the thread in the chat. */
  readonly threadId?: string;
  /** User name of the sender in the chat program. */
  readonly sourceUsername?: string;
  /** Display name of the sender in the chat program. */
  readonly sourceDisplayName?: string;
  /** Id of the message that led to the request. */
  readonly messageId?: string;
  /** Verbatim: sign-in answers are searched here. */
  readonly currentUserMessage?: string;
  /** Time zone of the user. */
  readonly timezone?: string;
  /** Id of the run that asks. Absent: no run asks. */
  readonly runId?: string;
  /** Name of the skill whose run asks. Absent: no run asks. */
  readonly skill?: string;
  /** What the run's skill declares, and so all it may use. Absent: the user or a program asks, not a run. */
  readonly declared?: readonly string[];
}

/** An account that a user has linked to a capability, without its credentials. */
export interface LinkedAccount {
  /** Identifies the account among those the user has linked to the capability. */
  readonly accountRef: string;
  /** Display name of the account. Absent if the provider gives none. */
  readonly accountName?: string;
  /** Email address of the account. Absent if the provider gives none. */
  readonly accountEmail?: string;
  /** When the account was linked, in ISO 8601. */
  readonly createdAt: string;
}

/** A capability as a caller sees it. */
export interface CapabilityListing {
  /** `namespace.name`. */
  readonly id: string;
  /** What the capability is for. */
  readonly description: string;
  /** Whether it handles sensitive data and is therefore limited to private chats by default. */
  readonly sensitive: boolean;
  /** Empty: every chat. */
  readonly allowedChatTypes: readonly string[];
  /** In this chat, for this caller. */
  readonly available: boolean;
  /** For any operation. */
  readonly requiresAuth: boolean;
  /** Whether the caller has linked an account. Always `false` if not `available`. */
  readonly authenticated: boolean;
  /** The caller's linked accounts, oldest first. Empty if not `available`. */
  readonly linkedAccounts: readonly LinkedAccount[];
  /** Sorted by name; at least one. */
  readonly operations: readonly CapabilityOperation[];
}

/** Why a capability was not performed: a value with a stable code, never an exception. */
export const CAPABILITY_CODES = {
  capability_not_found: "There is no such capability.",
  capability_access_denied: "It is not available in this chat, or the run's skill does not declare it.",
  capability_auth_required: "The user must link an account first.",
  capability_auth_flow_invalid: "This user has no such sign-in.",
  capability_auth_flow_expired: "The sign-in expired.",
  capability_auth_flow_denied: "The user or the system denied the sign-in.",
  capability_auth_callback_invalid: "The pasted address does not belong to a sign-in.",
  capability_auth_code_conflict: "The given code and address contradict each other.",
  capability_auth_state_mismatch: "The answer belongs to another sign-in.",
  capability_auth_code_missing: "The given value contains no code.",
  capability_auth_flow_ambiguous: "Several sign-ins are pending, and the call does not say which one to use.",
  capability_account_ambiguous: "Several accounts are linked, and the call does not say which one to use.",
  capability_invalid_input: "The request does not fit the operation.",
  capability_invalid_output: "The provider's answer is not allowed.",
  capability_backend_unavailable: "The provider is unreachable or failed.",
  capability_mutation_not_confirmed: "Nobody confirmed the change.",
  capability_confirmation_pending: "The change waits for a person; call again after they answer.",
  capability_mutation_plan_mismatch: "The request differs from what was confirmed.",
  capability_outcome_unknown: "An earlier call with this key was interrupted; its outcome is unknown.",
  capability_rate_limited: "Too many calls in a short time.",
  capability_cancelled: "The caller cancelled.",
} as const;

/** Code of a fault that Metier reports; `CAPABILITY_CODES` explains each. */
export type CapabilityCode = keyof typeof CAPABILITY_CODES;

/** Valid fault codes from a provider. */
export function isFaultCode(code: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,99}$/.test(code);
}

/** Why a capability was not performed. */
export interface CapabilityFault {
  /** One of Metier's codes, or a bridge's, passed on unchanged. */
  readonly code: CapabilityCode | (string & {});
  /** Says what happened, to which value, and what is allowed. Never contains a secret or another user's data. */
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
  /** Seconds to wait before the next attempt. Absent: unknown. */
  readonly retryAfterSeconds?: number;
}

/** What providers and the broker return. */
export type Answer<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly fault: CapabilityFault };

export interface FaultAnswer {
  readonly ok: false;
  readonly fault: CapabilityFault;
}

export function answerWith<Value>(value: Value): Answer<Value> {
  return { ok: true, value };
}

export function answerFault(
  code: CapabilityCode,
  message: string,
  more: { readonly hint?: string | undefined; readonly retryAfterSeconds?: number | undefined } = {},
): FaultAnswer {
  return { ok: false, fault: presentFields({ code, message, ...more }) };
}

/**
 * The interface of every provider: a `bridge-v1` subprocess, an MCP server, or an object in the embedding program. The
 * broker trusts nothing it returns and checks all definitions, outputs and sign-ins.
 */
export interface CapabilityProvider {
  /** The first part of all its capability ids. */
  readonly namespace: string;
  /** As the provider writes them, list or map; `read-definitions.ts` turns them into definitions. */
  definitions(signal?: AbortSignal): Promise<Answer<unknown>>;
  /** Performs one operation. The input already matches the operation's schema. */
  invoke(request: ProviderInvocation, context: ProviderContext): Promise<Answer<JsonObject>>;
  /** Starts a sign-in. Without this method, no operation of the provider can require one. */
  authBegin?(request: AuthBeginRequest, context: ProviderContext): Promise<Answer<BegunAuth>>;
  /** Exchanges the code for an account. Needed for `authorization_code`. */
  authComplete?(request: AuthCompleteRequest, context: ProviderContext): Promise<Answer<AuthorizedAccount>>;
  /** Checks once whether the user has signed in. Needed for `device_code`. */
  authPoll?(request: AuthPollRequest, context: ProviderContext): Promise<Answer<AuthPoll>>;
  /** The account is no longer linked: delete what is stored for it. */
  forget?(account: ProviderAccount, context: ProviderContext): Promise<void>;
  /** Called when the broker closes; it waits a few seconds. */
  close?(): Promise<void>;
}

/** What a provider gets with each call: who asks, and what it may use for them. */
export interface ProviderContext {
  /** Who the operation is for; verified. */
  readonly caller: CapabilityCaller;
  /** For a provider in another process: identifies the caller, valid only for this provider and a short time. */
  token(): Promise<string>;
  /** This provider's storage for this user; only opaque references leave it. */
  readonly vault: ProviderVault;
  /** Aborts when the caller cancels or the call takes too long. */
  readonly signal: AbortSignal;
}

/** Secrets of one provider for one user. References of other users or providers are unknown here. */
export interface ProviderVault {
  /** Stores a secret of at most 256 KiB and returns its reference, `vlt_` and 32 hex digits. */
  put(secret: JsonObject): Promise<string>;
  /** Returns the secret, or `undefined` if the reference is unknown. */
  get(ref: string): Promise<JsonObject | undefined>;
  /** Replaces the secret under the same reference. `false`: the reference is unknown. */
  replace(ref: string, secret: JsonObject): Promise<boolean>;
  /** Removes the secret. `false`: the reference is unknown. */
  delete(ref: string): Promise<boolean>;
}

/** One operation that a provider is asked to perform. */
export interface ProviderInvocation {
  /** `namespace.name`. */
  readonly capabilityId: string;
  /** Name of the operation. */
  readonly operation: string;
  /** Checked against the operation's schema, with its defaults filled in. */
  readonly input: JsonObject;
  /** The account to use. Absent: the operation needs none, and the caller named none. */
  readonly account?: ProviderAccount;
  /** The caller's key, 1 to 200 printable characters. Absent: the caller gave none. */
  readonly idempotencyKey?: string;
}

/** A linked account, with what its provider needs to use it. */
export interface ProviderAccount extends LinkedAccount {
  /** What the provider returned when the account was linked: references, never a credential. */
  readonly credentialMaterial: JsonObject;
  /** What the provider said about the account when it was linked. */
  readonly metadata: JsonObject;
}

/** How a user signs in: with a code that the browser brings back, or a code typed on another device (RFC 8628). */
export type FlowType = "authorization_code" | "device_code";

/** Asks a provider to start a sign-in. */
export interface AuthBeginRequest {
  /** The capability that the account will be linked to. */
  readonly capabilityId: string;
  /** The account that the user wants to link, such as an email address. Absent: any. */
  readonly accountHint?: string;
  /** Where the host listens for the browser, if it does (RFC 8252). */
  readonly redirectUri?: string;
}

/** A sign-in started by a provider. */
export interface BegunAuth {
  /** Where the user signs in: `https:`, or `http:` on this machine; at most 8192 characters. */
  readonly authUrl: string;
  /** How the sign-in is completed. */
  readonly flowType: FlowType;
  /** ISO 8601. Absent: the broker's own limit applies. */
  readonly expiresAt?: string;
  /** Passed back at completion; kept in the vault until then. */
  readonly flowState: JsonObject;
  /** Code that the user types at `authUrl`. Absent: none is needed. */
  readonly userCode?: string;
  /** Seconds between two polls of a `device_code` sign-in, 1 to 3600. Default: 5. */
  readonly pollIntervalSeconds?: number;
  /** The `state` that the callback must contain. */
  readonly expectedCallbackState?: string;
}

/** Asks a provider to complete a sign-in with the code that the user brought. */
export interface AuthCompleteRequest {
  /** The capability that the account will be linked to. */
  readonly capabilityId: string;
  /** The `flowState` that `authBegin` returned. */
  readonly flowState: JsonObject;
  /** The authorization code alone. */
  readonly authorizationCode: string;
  /** The URL where the browser ended up. Absent: the user gave only the code. */
  readonly rawCallbackUrl?: string;
  /** The `state` in the callback URL, already checked. Absent: none was given. */
  readonly state?: string;
}

/** The account that a completed sign-in gives access to. */
export interface AuthorizedAccount {
  /** Identifies the account: at most 256 visible characters, and not a credential. */
  readonly accountRef: string;
  /** References to vault entries; a credential is refused. */
  readonly credentialMaterial: JsonObject;
  /** `account_name` and `account_email` are shown to the user. */
  readonly metadata: JsonObject;
}

/** Asks a provider whether the user has signed in. */
export interface AuthPollRequest {
  /** The capability that the account will be linked to. */
  readonly capabilityId: string;
  /** The provider's latest `flowState` for this sign-in. */
  readonly flowState: JsonObject;
}

/** A poll's result: keep waiting, or the account. A `flowState` replaces the earlier one. */
export type AuthPoll =
  | {
      readonly status: "pending";
      readonly retryAfterSeconds: number;
      readonly flowState?: JsonObject;
    }
  | { readonly status: "complete"; readonly account: AuthorizedAccount };
