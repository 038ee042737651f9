/** What the broker does for a verified caller. `create-broker.ts` creates one. */
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
  /** Sorted by id. Leaves out what this caller may not use, unless `all`. */
  list(caller: CapabilityCaller, options?: { readonly all?: boolean }): Promise<readonly CapabilityListing[]>;
  /**
   * Why a skill that declares these cannot run for this caller. A missing sign-in is not a reason: the skill may do it.
   */
  preflight(ids: readonly string[], caller: CapabilityCaller): Promise<CapabilityFault | undefined>;
  invoke(
    caller: CapabilityCaller,
    request: InvokeRequest,
    options?: BrokerCallOptions,
  ): Promise<Answer<InvokeAnswer>>;
  readonly auth: CapabilityAuth;
  /**
   * Removes everything stored for them: accounts, pending sign-ins, secrets, results of changes. Their audit log lines
   * stay, without a link to them. None of their runs may be active.
   */
  forget(users: ForgottenUsers): Promise<void>;
  /** The configured providers, with their faults: one that cannot start does not affect the others. */
  providers(): Promise<readonly ProviderStatus[]>;
  close(): Promise<void>;
}

/** One user, or all whose `userId` starts with this. */
export type ForgottenUsers = { readonly userId: string } | { readonly prefix: string };

/** Requests one operation of a capability. */
export interface InvokeRequest {
  /** `namespace.name`. */
  readonly capability: string;
  /** Name of the operation. */
  readonly operation: string;
  /** Must match the operation's `inputSchema`. Default: `{}`. */
  readonly input?: JsonObject;
  /** An account by its reference, name or email; required if several are linked. */
  readonly account?: string;
  /** 1 to 200 printable characters. Repeating a finished change with the same key returns its first result. */
  readonly idempotencyKey?: string;
  /** Id of a plan that `confirm` postponed with `later`. The rest of the request must be the same. */
  readonly planId?: string;
}

export interface BrokerCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Asked before every mutating operation. No flag replaces it. Absent: nobody can be asked, so the answer is no. */
  readonly confirm?: ConfirmMutation | undefined;
  /** Makes each change only once, however often its caller restarts. */
  readonly keep?: KeepChange | undefined;
  /** Called for every call, whatever its outcome. */
  readonly onAudit?: ((entry: AuditEntry) => void) | undefined;
}

/** A change that passed all checks, before anyone was asked. */
export type AskedChange = Omit<MutationPlan, "planId" | "fingerprint"> &
  Pick<InvokeRequest, "idempotencyKey">;

/** The result of the earlier change, which is returned; or how to make it now. */
export type KeepChange = (change: AskedChange) => Promise<Answer<JsonObject> | KeptChange>;

/** One change in its caller's journal. */
export interface KeptChange {
  /** The key it is made under: the caller's, or this journal's key for it. */
  readonly idempotencyKey?: string | undefined;
  /** Whether it may be made; `ask` asks whoever is there now. `undefined`: nobody can be asked. */
  confirm(
    plan: MutationPlan,
    ask: (() => Promise<Confirmed>) | undefined,
  ): Promise<Confirmed | CapabilityFault | undefined>;
  /** Called just before it is made; if this throws, it is not made. */
  begin(): Promise<void>;
  /** Its result, once that is certain. */
  end(answer: Answer<JsonObject>): Promise<void>;
}

/** `cancelled`: the caller is gone. `failed`: the question could not be asked. */
export type Confirmed = Awaited<ReturnType<ConfirmMutation>> | "cancelled" | "failed";

/** The result of a performed operation. */
export interface InvokeAnswer {
  /** `cap_` and 16 hex digits. */
  readonly requestId: string;
  /** `namespace.name`, as requested. */
  readonly capability: string;
  /** Name of the operation, as requested. */
  readonly operation: string;
  /** Reference of the account that was used. Absent: none. */
  readonly account?: string;
  /** The provider's answer; it matches the operation's `outputSchema`. */
  readonly output: JsonObject;
  /** An earlier call with the same key returned this result; nothing was done again. */
  readonly isRepeat: boolean;
}

/** A change that waits for a person. */
export interface MutationPlan {
  /** `plan_` and 16 hex digits. */
  readonly planId: string;
  /** `sha256:…` of user, capability, operation, account and input, which is exactly what is confirmed. */
  readonly fingerprint: string;
  /** The user that the change is for. */
  readonly caller: CapabilityCaller;
  /** `namespace.name`. */
  readonly capability: string;
  /** The operation that makes the change. */
  readonly operation: CapabilityOperation;
  /** Reference of the account to use. Absent: none. */
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

/** One line of the audit log: who did what, when, and how it ended. Without input, output or secrets. */
export interface AuditEntry {
  /** ISO 8601, with milliseconds. */
  readonly at: string;
  /** `cap_` and 16 hex digits; the same in all lines of one call. */
  readonly requestId: string;
  /** What was asked for. */
  readonly action: "invoke" | "auth-begin" | "auth-complete" | "auth-poll" | "unlink";
  /** The caller's `userId`. For a forgotten user a pseudonym, `p_…`, and the line has no chat or account. */
  readonly user: string;
  /** The caller's chat. Absent: unknown. */
  readonly chatId?: string;
  /** The run that asked. Absent: no run asked. */
  readonly runId?: string;
  /** The skill whose run asked. Absent: no run asked. */
  readonly skill?: string;
  /** Empty if none was named, as for a sign-in this user does not have. */
  readonly capability: string;
  /** Name of the operation, for `invoke`. Absent if the call was refused before it was known. */
  readonly operation?: string;
  /** Reference of the account; for `auth-begin`, the requested account. */
  readonly account?: string;
  /** Whether the operation changes something, for `invoke`. Absent if unknown. */
  readonly mutating?: boolean;
  /** `sha256:…` of the input, in canonical form. */
  readonly inputDigest?: string;
  /** The caller's key. Absent: none. */
  readonly idempotencyKey?: string;
  /**
   * `ok`, `repeat`, `pending` (a polled sign-in), or a fault code. `started` precedes a mutating operation, and linking
   * or unlinking an account.
   */
  readonly outcome: string;
  /** Milliseconds since the call started. */
  readonly durationMs: number;
}

export interface CapabilityAuth {
  begin(caller: CapabilityCaller, request: BeginRequest): Promise<Answer<AuthFlow>>;
  /** This caller's pending ones, newest first. */
  list(
    caller: CapabilityCaller,
    filter?: { readonly capability?: string; readonly account?: string },
  ): Promise<readonly AuthFlow[]>;
  complete(caller: CapabilityCaller, request: CompleteRequest): Promise<Answer<CompletedAuth>>;
  /** From the browser's redirect address alone: the flow is found by its `state`. */
  completeCallback(caller: CapabilityCaller, callbackUrl: string): Promise<Answer<CompletedAuth>>;
  poll(caller: CapabilityCaller, flowId: string): Promise<Answer<PolledAuth>>;
  unlink(
    caller: CapabilityCaller,
    request: { readonly capability: string; readonly account?: string },
  ): Promise<Answer<{ readonly account: string }>>;
}

/** Requests a sign-in that links an account to a capability. */
export interface BeginRequest {
  /** `namespace.name`. */
  readonly capability: string;
  /** The account to link, such as an email address, at most 320 characters. Absent: any. */
  readonly account?: string;
  /** Where the host listens for the browser (`callback-listener.ts`). A run cannot set it. */
  readonly redirectUri?: string;
}

/** A pending sign-in, as its user sees it. */
export interface AuthFlow {
  /** `caf_` and 24 hex digits. */
  readonly flowId: string;
  /** The capability that the account will be linked to. */
  readonly capability: string;
  /** The requested account. Absent: any. */
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
  /** A code, or whatever the user pasted instead. */
  readonly code?: string;
  /** The full URL where the browser ended up. */
  readonly callbackUrl?: string;
  /** It came through a browser, so anyone could have sent it: it must carry the expected `state`. */
  readonly isFromBrowser?: boolean;
}

/** A completed sign-in and the account it linked. */
export interface CompletedAuth {
  /** The sign-in, which is no longer pending. */
  readonly flowId: string;
  /** The capability that the account is linked to. */
  readonly capability: string;
  /** Identifies the account among those the user has linked to the capability. */
  readonly accountRef: string;
  /** Display name of the account. Absent if the provider gives none. */
  readonly accountName?: string;
  /** Email address of the account. Absent if the provider gives none. */
  readonly accountEmail?: string;
}

/** A poll's result: wait `retryAfterSeconds` and poll again, or the completed sign-in. */
export type PolledAuth =
  | { readonly status: "pending"; readonly flowId: string; readonly retryAfterSeconds: number }
  | ({ readonly status: "complete" } & CompletedAuth);

/** A provider and its capabilities, or why it is unavailable. */
export interface ProviderStatus {
  /** Its name in the config; for a provider defined in code, its namespace. */
  readonly name: string;
  /** The first part of its capability ids. */
  readonly namespace: string;
  /** `bridge` starts a process for each call; `bridge-persistent` keeps one between calls. */
  readonly kind: "bridge" | "bridge-persistent" | "mcp" | "in-process";
  /** As configured; absent for a provider defined in code. */
  readonly command?: readonly string[];
  /** Where it comes from: `config`, `preset`, `program`. */
  readonly origin: "config" | "preset" | "program";
  /** Ids of its capabilities. Empty if it has a `fault`. */
  readonly capabilities: readonly string[];
  /** Absent: it works and its definitions are registered. */
  readonly fault?: CapabilityFault;
}
