/**
 * The vocabulary of capabilities: what a provider offers, for whom it is performed, and which accounts a user has linked.
 * A capability is an operation on a sensitive system that the host performs; no credential enters a run.
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
  /** JSON Schema that the caller's input must fit. Absent: any JSON object. */
  readonly inputSchema?: JsonObject;
  /** JSON Schema that the provider's output must fit. Absent: any JSON object. */
  readonly outputSchema?: JsonObject;
}

/** A capability as its provider defines it, after it was checked. */
export interface CapabilityDefinition {
  /** `namespace.name`, where the namespace is the provider's. */
  readonly id: string;
  /** What the capability is for, for models and people. Never empty. */
  readonly description: string;
  /** Only in private chats, unless `allowedChatTypes` says otherwise. */
  readonly sensitive: boolean;
  /** In lower case. Absent: nothing was said. */
  readonly allowedChatTypes?: readonly string[];
  /** Sorted by name; at least one. */
  readonly operations: readonly CapabilityOperation[];
}

/**
 * For whom an operation is performed. Only ever made from a verified token, or by the program that embeds us: nothing
 * that a run says about itself gets in here.
 */
export interface CapabilityCaller {
  /** The user whose linked accounts, sign-ins and vault are used. */
  readonly userId: string;
  /** Id of the chat in the chat program. */
  readonly chatId?: string;
  /** Type of the chat, such as `private`, compared with `allowedChatTypes` in lower case. */
  readonly chatType?: string;
  /** Title of the chat, as people see it. */
  readonly chatTitle?: string;
  /** Of the chat program, such as `telegram`. */
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
  /** Word for word: what completes a sign-in is looked for here. */
  readonly currentUserMessage?: string;
  /** Time zone of the user. */
  readonly timezone?: string;
  /** Id of the run that asks. Absent: no run asks. */
  readonly runId?: string;
  /** Name of the skill whose run asks. Absent: no run asks. */
  readonly skill?: string;
  /** What the run's skill declares, and so all that it may use. Absent: no run asks, but the user or a program. */
  readonly declared?: readonly string[];
}

/** An account that a user has linked to a capability, without its credentials. */
export interface LinkedAccount {
  /** Identifies the account among those the user has linked to the capability. */
  readonly accountRef: string;
  /** Name of the account, as people know it. Absent if the provider gives none. */
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
  /** Whether it handles sensitive data, and so is only for private chats by default. */
  readonly sensitive: boolean;
  /** Empty: every chat. */
  readonly allowedChatTypes: readonly string[];
  /** In this chat, for this caller. */
  readonly available: boolean;
  /** Of any operation. */
  readonly requiresAuth: boolean;
  /** Whether the caller has linked an account. Always `false` where it is not `available`. */
  readonly authenticated: boolean;
  /** Accounts that the caller has linked, oldest first. Empty where it is not `available`. */
  readonly linkedAccounts: readonly LinkedAccount[];
  /** Sorted by name; at least one. */
  readonly operations: readonly CapabilityOperation[];
}

/** Why a capability was not performed: a value with a stable code, never an exception. */
export const CAPABILITY_CODES = {
  capability_not_found: "There is no such capability.",
  capability_access_denied: "It is not for this chat, or the run's skill does not declare it.",
  capability_auth_required: "The user has to link an account first.",
  capability_auth_flow_invalid: "There is no such sign-in for this user.",
  capability_auth_flow_expired: "The sign-in took too long.",
  capability_auth_flow_denied: "The user, or the system, said no to the sign-in.",
  capability_auth_callback_invalid: "The address that was pasted is none of a sign-in.",
  capability_auth_code_conflict: "The code and the address that were given contradict each other.",
  capability_auth_state_mismatch: "The answer belongs to another sign-in.",
  capability_auth_code_missing: "There is no code in what was given.",
  capability_auth_flow_ambiguous: "Several sign-ins are pending, and it is not said which one is meant.",
  capability_account_ambiguous: "Several accounts are linked, and it is not said which one is meant.",
  capability_invalid_input: "The request does not fit the operation.",
  capability_invalid_output: "What the provider answered is not allowed.",
  capability_backend_unavailable: "The provider cannot be reached, or failed.",
  capability_mutation_not_confirmed: "Nobody has confirmed the change.",
  capability_confirmation_pending:
    "The change waits for a person; it is asked for again once they have answered.",
  capability_mutation_plan_mismatch: "What is asked for is not what was confirmed.",
  capability_outcome_unknown: "An earlier call with this key was cut off; whether it happened is not known.",
  capability_rate_limited: "Too many calls in a short time.",
  capability_cancelled: "The caller gave up.",
} as const;

/** Code of a fault that Metier itself reports; `CAPABILITY_CODES` explains each. */
export type CapabilityCode = keyof typeof CAPABILITY_CODES;

/** What a provider may give as the code of a fault. */
export function isFaultCode(code: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,99}$/.test(code);
}

/** Why a capability was not performed. */
export interface CapabilityFault {
  /** One of ours, or the one that a bridge gave, passed on as it is. */
  readonly code: CapabilityCode | (string & {});
  /** What, which value, what is allowed. Never a secret, never what another user has. */
  readonly message: string;
  /** What to do. */
  readonly hint?: string;
  /** Seconds to wait before another attempt. Absent: not known. */
  readonly retryAfterSeconds?: number;
}

/** What a provider and the broker give back. */
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
 * The port that every provider fills: a subprocess that speaks `bridge-v1`, an MCP server, or an object of the embedding
 * program. The broker trusts nothing of what comes back: definitions, outputs and sign-ins are all checked by it.
 */
export interface CapabilityProvider {
  /** The first part of the ids of all its capabilities. */
  readonly namespace: string;
  /** As the provider writes them, list or map; `read-definitions.ts` makes definitions of them. */
  definitions(signal?: AbortSignal): Promise<Answer<unknown>>;
  /** Performs one operation. The input already fits the operation's schema. */
  invoke(request: ProviderInvocation, context: ProviderContext): Promise<Answer<JsonObject>>;
  /** Starts a sign-in. Without this method, no operation of the provider can require one. */
  authBegin?(request: AuthBeginRequest, context: ProviderContext): Promise<Answer<BegunAuth>>;
  /** Exchanges the code for an account. Needed for `authorization_code`. */
  authComplete?(request: AuthCompleteRequest, context: ProviderContext): Promise<Answer<AuthorizedAccount>>;
  /** Checks once whether the user has signed in. Needed for `device_code`. */
  authPoll?(request: AuthPollRequest, context: ProviderContext): Promise<Answer<AuthPoll>>;
  /** The account is no longer linked: what is kept for it can go. */
  forget?(account: ProviderAccount, context: ProviderContext): Promise<void>;
  /** Called when the broker closes, which waits a few seconds for it. */
  close?(): Promise<void>;
}

/** What a provider gets with each call: who asks, and what it may use for them. */
export interface ProviderContext {
  /** For whom the operation is performed; verified. */
  readonly caller: CapabilityCaller;
  /** For a provider in another process: says who the caller is, for this provider alone, and soon ends. */
  token(): Promise<string>;
  /** What this provider keeps for this user; opaque references are all that leaves it. */
  readonly vault: ProviderVault;
  /** Aborts when the caller cancels or the call takes too long. */
  readonly signal: AbortSignal;
}

/** Secrets of one provider for one user. A reference of another user or provider is unknown here. */
export interface ProviderVault {
  /** Keeps a secret of at most 256 KiB and gives its reference, `vlt_` and 32 hex digits. */
  put(secret: JsonObject): Promise<string>;
  /** Gives the secret, or `undefined` if the reference is unknown. */
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
  /** What the provider gave when the account was linked: references, never a credential itself. */
  readonly credentialMaterial: JsonObject;
  /** What the provider told about the account when it was linked. */
  readonly metadata: JsonObject;
}

/** How a user signs in: with a code that the browser brings back, or with a code typed on another device (RFC 8628). */
export type FlowType = "authorization_code" | "device_code";

/** Asks a provider to start a sign-in. */
export interface AuthBeginRequest {
  /** The capability that the account will be linked to. */
  readonly capabilityId: string;
  /** The account that the user wants to link, such as an email address. Absent: any. */
  readonly accountHint?: string;
  /** Where the host listens for the browser, when it does; RFC 8252. */
  readonly redirectUri?: string;
}

/** A sign-in that a provider has started. */
export interface BegunAuth {
  /** Where the user signs in: `https:`, or `http:` on this machine; at most 8192 characters. */
  readonly authUrl: string;
  /** How the sign-in is completed. */
  readonly flowType: FlowType;
  /** ISO 8601. Absent: the broker's own limit. */
  readonly expiresAt?: string;
  /** Given back at completion; kept in the vault until then. */
  readonly flowState: JsonObject;
  /** Code that the user types at `authUrl`. Absent: none is needed. */
  readonly userCode?: string;
  /** Seconds between two polls of a `device_code` sign-in, 1 to 3600. Default: 5. */
  readonly pollIntervalSeconds?: number;
  /** The `state` that the callback must carry. */
  readonly expectedCallbackState?: string;
}

/** Asks a provider to complete a sign-in with the code that the user brought. */
export interface AuthCompleteRequest {
  /** The capability that the account will be linked to. */
  readonly capabilityId: string;
  /** What `authBegin` gave as `flowState`. */
  readonly flowState: JsonObject;
  /** The authorization code, without anything around it. */
  readonly authorizationCode: string;
  /** The URL that the browser ended at. Absent: the user gave only the code. */
  readonly rawCallbackUrl?: string;
  /** The `state` in the callback URL, already checked. Absent: none was given. */
  readonly state?: string;
}

/** The account that a completed sign-in gives access to. */
export interface AuthorizedAccount {
  /** Identifies the account: at most 256 visible characters, and not a credential. */
  readonly accountRef: string;
  /** References to what the vault keeps; a credential in it is refused. */
  readonly credentialMaterial: JsonObject;
  /** `account_name` and `account_email` are shown to the user. */
  readonly metadata: JsonObject;
}

/** Asks a provider whether the user has signed in. */
export interface AuthPollRequest {
  /** The capability that the account will be linked to. */
  readonly capabilityId: string;
  /** The latest `flowState` that the provider gave for this sign-in. */
  readonly flowState: JsonObject;
}

/** The answer to a poll: keep waiting, or the account. A `flowState` replaces the earlier one. */
export type AuthPoll =
  | {
      readonly status: "pending";
      readonly retryAfterSeconds: number;
      readonly flowState?: JsonObject;
    }
  | { readonly status: "complete"; readonly account: AuthorizedAccount };
