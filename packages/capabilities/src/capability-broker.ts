/** What the broker does for a caller whose identity is already verified. `create-broker.ts` makes one. */
import type { JsonObject } from "@metier/base/json";
import type {
  Answer,
  CapabilityCaller,
  CapabilityFault,
  CapabilityListing,
  CapabilityOperation,
  FlowType,
} from "./capability.ts";

export interface CapabilityBroker {
  /** Sorted by id. What is not for this caller is left out, unless `all`. */
  list(caller: CapabilityCaller, options?: { readonly all?: boolean }): Promise<readonly CapabilityListing[]>;
  /** Why a skill that declares these cannot run for this caller. A missing sign-in is no reason: the skill may do it. */
  preflight(ids: readonly string[], caller: CapabilityCaller): Promise<CapabilityFault | undefined>;
  invoke(
    caller: CapabilityCaller,
    request: InvokeRequest,
    options?: BrokerCallOptions,
  ): Promise<Answer<InvokeAnswer>>;
  readonly auth: CapabilityAuth;
  /**
   * Removes all that is kept for them: accounts, sign-ins under way, secrets, results of changes. What the audit log has of
   * them stays, and leads to nobody. No run of theirs may be under way.
   */
  forget(users: ForgottenUsers): Promise<void>;
  /** Providers as they are wired, with what went wrong: one that cannot start hinders no other. */
  providers(): Promise<readonly ProviderStatus[]>;
  close(): Promise<void>;
}

/** One user, or all whose `userId` begins so. */
export type ForgottenUsers = { readonly userId: string } | { readonly prefix: string };

/** Asks for one operation of a capability. */
export interface InvokeRequest {
  /** `namespace.name`. */
  readonly capability: string;
  /** Name of the operation. */
  readonly operation: string;
  /** Must fit the operation's `inputSchema`. Default: `{}`. */
  readonly input?: JsonObject;
  /** An account by its reference, name or email; needed where several are linked. */
  readonly account?: string;
  /** 1 to 200 printable characters. Repeating a finished change with the same key gives its first result. */
  readonly idempotencyKey?: string;
  /** Id of a plan that `confirm` put off with `later`. The rest of the request must be the same. */
  readonly planId?: string;
}

export interface BrokerCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Asked before every mutating operation. No flag answers it. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation | undefined;
  /** Makes each change once, however often what asks for it is begun again. */
  readonly keep?: KeepChange | undefined;
  /** Hears of every call, however it ended. */
  readonly onAudit?: ((entry: AuditEntry) => void) | undefined;
}

/** A change that passed all checks; nobody was asked about it yet. */
export type AskedChange = Omit<MutationPlan, "planId" | "fingerprint"> &
  Pick<InvokeRequest, "idempotencyKey">;

/** What came of the change before, which is the answer now; or how it is made now. */
export type KeepChange = (change: AskedChange) => Promise<Answer<JsonObject> | KeptChange>;

/** One change in the journal of whoever asks for it. */
export interface KeptChange {
  /** The key that it is made under: the caller's, or the one that this journal has for it. */
  readonly idempotencyKey?: string | undefined;
  /** Whether it may be made; `ask` asks whoever is there now. `undefined`: nobody can be asked. */
  confirm(
    plan: MutationPlan,
    ask: (() => Promise<Confirmed>) | undefined,
  ): Promise<Confirmed | CapabilityFault | undefined>;
  /** Just before it is made; where this throws, it is not. */
  begin(): Promise<void>;
  /** What came of it, once that is certain. */
  end(answer: Answer<JsonObject>): Promise<void>;
}

/** `cancelled`: the caller is gone. `failed`: the question could not be asked. */
export type Confirmed = Awaited<ReturnType<ConfirmMutation>> | "cancelled" | "failed";

/** The result of an operation that was performed. */
export interface InvokeAnswer {
  /** `cap_` and 16 hex digits. */
  readonly requestId: string;
  /** `namespace.name`, as requested. */
  readonly capability: string;
  /** Name of the operation, as requested. */
  readonly operation: string;
  /** Reference of the account that was used. Absent: none was. */
  readonly account?: string;
  /** What the provider answered; it fits the operation's `outputSchema`. */
  readonly output: JsonObject;
  /** An earlier call with the same key had this result; nothing was done again. */
  readonly isRepeat: boolean;
}

/** A change that waits for a person. */
export interface MutationPlan {
  /** `plan_` and 16 hex digits. */
  readonly planId: string;
  /** `sha256:…` of user, capability, operation, account and input: what is confirmed is exactly this. */
  readonly fingerprint: string;
  /** For whom the change is made. */
  readonly caller: CapabilityCaller;
  /** `namespace.name`. */
  readonly capability: string;
  /** The operation that makes the change. */
  readonly operation: CapabilityOperation;
  /** Reference of the account that is used. Absent: none is. */
  readonly account?: string;
  /** How the user knows the account: its email, or its name. */
  readonly accountName?: string;
  /** What the provider will get if the user confirms. */
  readonly input: JsonObject;
}

/** `yes` performs it, `no` refuses it, `later` keeps the plan: a second call with its `planId` asks again. */
export type ConfirmMutation = (
  plan: MutationPlan,
  signal?: AbortSignal,
) => Promise<"yes" | "no" | "later"> | "yes" | "no" | "later";

/** One line of the audit log: who did what, when, and how it ended. No input, no output, no secret. */
export interface AuditEntry {
  /** ISO 8601, with milliseconds. */
  readonly at: string;
  /** `cap_` and 16 hex digits; the same in all lines of one call. */
  readonly requestId: string;
  /** What was asked for. */
  readonly action: "invoke" | "auth-begin" | "auth-complete" | "auth-poll" | "unlink";
  /** The caller's `userId`; of one who was forgotten a pseudonym, `p_…`, and the line has no chat and no account. */
  readonly user: string;
  /** The caller's chat. Absent: not known. */
  readonly chatId?: string;
  /** The run that asked. Absent: no run asked. */
  readonly runId?: string;
  /** The skill whose run asked. Absent: no run asked. */
  readonly skill?: string;
  /** Empty where none was named, as for a sign-in that this user does not have. */
  readonly capability: string;
  /** Name of the operation, for `invoke`. Absent if it was refused before it was known. */
  readonly operation?: string;
  /** Reference of the account; for `auth-begin`, the account that was asked for. */
  readonly account?: string;
  /** Whether the operation changes something, for `invoke`. Absent if it is not known. */
  readonly mutating?: boolean;
  /** `sha256:…` of the input, in canonical form. */
  readonly inputDigest?: string;
  /** The key that the caller gave. Absent: none. */
  readonly idempotencyKey?: string;
  /**
   * `ok`, `repeat`, `pending` (a sign-in that was polled), or the code of the fault. `started` stands before a mutating
   * operation, and before an account is linked or unlinked.
   */
  readonly outcome: string;
  /** Milliseconds since the call started. */
  readonly durationMs: number;
}

export interface CapabilityAuth {
  begin(caller: CapabilityCaller, request: BeginRequest): Promise<Answer<AuthFlow>>;
  /** Pending ones of this caller, newest first. */
  list(
    caller: CapabilityCaller,
    filter?: { readonly capability?: string; readonly account?: string },
  ): Promise<readonly AuthFlow[]>;
  complete(caller: CapabilityCaller, request: CompleteRequest): Promise<Answer<CompletedAuth>>;
  /** From what the browser was sent to alone: the flow is found by its `state`. */
  completeCallback(caller: CapabilityCaller, callbackUrl: string): Promise<Answer<CompletedAuth>>;
  poll(caller: CapabilityCaller, flowId: string): Promise<Answer<PolledAuth>>;
  unlink(
    caller: CapabilityCaller,
    request: { readonly capability: string; readonly account?: string },
  ): Promise<Answer<{ readonly account: string }>>;
}

/** Asks for a sign-in that links an account to a capability. */
export interface BeginRequest {
  /** `namespace.name`. */
  readonly capability: string;
  /** The account to link, such as an email address, at most 320 characters. Absent: any. */
  readonly account?: string;
  /** Where a listener of the host waits for the browser (`callback-listener.ts`). A run cannot give one. */
  readonly redirectUri?: string;
}

/** A pending sign-in, as its user sees it. */
export interface AuthFlow {
  /** `caf_` and 24 hex digits. */
  readonly flowId: string;
  /** The capability that the account will be linked to. */
  readonly capability: string;
  /** The account that was asked for. Absent: any. */
  readonly account?: string;
  /** The URL that the user opens to sign in. */
  readonly authUrl: string;
  /** How to complete it: `authorization_code` with `complete`, `device_code` with `poll`. */
  readonly flowType: FlowType;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  /** Code that the user types at `authUrl`. Absent: none is needed. */
  readonly userCode?: string;
  /** Seconds to wait between two polls. Only for `device_code`. */
  readonly pollIntervalSeconds?: number;
}

/** Completes a sign-in with a code, a callback URL, or both if they agree. */
export interface CompleteRequest {
  /** The sign-in's `flowId`. */
  readonly flowId: string;
  /** A code, or whatever the user pasted instead of one. */
  readonly code?: string;
  /** The whole URL that the browser ended at. */
  readonly callbackUrl?: string;
  /** A browser brought it, whoever sent that: it has to carry the `state` that the sign-in expects. */
  readonly isFromBrowser?: boolean;
}

/** A completed sign-in and the account that it linked. */
export interface CompletedAuth {
  /** The sign-in, which is no longer pending. */
  readonly flowId: string;
  /** The capability that the account is linked to. */
  readonly capability: string;
  /** Identifies the account among those the user has linked to the capability. */
  readonly accountRef: string;
  /** Name of the account, as people know it. Absent if the provider gives none. */
  readonly accountName?: string;
  /** Email address of the account. Absent if the provider gives none. */
  readonly accountEmail?: string;
}

/** The answer to a poll: wait `retryAfterSeconds` and poll again, or the completed sign-in. */
export type PolledAuth =
  | { readonly status: "pending"; readonly flowId: string; readonly retryAfterSeconds: number }
  | ({ readonly status: "complete" } & CompletedAuth);

/** A provider and what it offers, or why it cannot be used. */
export interface ProviderStatus {
  /** Its name in the config; for a provider given as an object, its namespace. */
  readonly name: string;
  /** The first part of the ids of its capabilities. */
  readonly namespace: string;
  /** `bridge` starts a process for each call; `bridge-persistent` keeps one between calls. */
  readonly kind: "bridge" | "bridge-persistent" | "mcp" | "in-process";
  /** As configured; absent for a provider given as an object. */
  readonly command?: readonly string[];
  /** Where it comes from: `config`, `preset`, `program`. */
  readonly origin: "config" | "preset" | "program";
  /** Ids of its capabilities. Empty if it has a `fault`. */
  readonly capabilities: readonly string[];
  /** Absent: it is there and its definitions are registered. */
  readonly fault?: CapabilityFault;
}
