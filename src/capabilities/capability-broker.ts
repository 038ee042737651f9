/** What the broker does for a caller whose identity is already verified. `create-broker.ts` makes one. */
import type { CapabilityCaller, CapabilityListing, CapabilityOperation, JsonObject } from "./capability.ts";
import type { Answer, CapabilityFault } from "./capability-fault.ts";
import type { FlowType } from "./capability-provider.ts";

export interface CapabilityBroker {
  /** Sorted by id. What is not for this caller is left out, unless `all`. */
  list(caller: CapabilityCaller, options?: { readonly all?: boolean }): Promise<readonly CapabilityListing[]>;
  /** Why a skill that declares these cannot run for this caller. A missing sign-in is no reason: the skill may do it. */
  preflight(ids: readonly string[], caller: CapabilityCaller): Promise<CapabilityFault | undefined>;
  invoke(
    caller: CapabilityCaller,
    request: InvokeRequest,
    options?: InvokeOptions,
  ): Promise<Answer<InvokeAnswer>>;
  readonly auth: CapabilityAuth;
  /** Providers as they are wired, with what went wrong: one that cannot start hinders no other. */
  providers(): Promise<readonly ProviderStatus[]>;
  close(): Promise<void>;
}

export interface InvokeRequest {
  readonly capability: string;
  readonly operation: string;
  readonly input?: JsonObject;
  /** An account by its reference, name or email; needed where several are linked. */
  readonly account?: string;
  readonly idempotencyKey?: string;
  /** Of a change that was asked for before and confirmed since. */
  readonly planId?: string;
}

export interface InvokeOptions {
  readonly signal?: AbortSignal;
  /** Asked before every mutating operation. No flag answers it. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation;
  /** Hears of every call, however it ended. */
  onAudit?(entry: AuditEntry): void;
}

export interface InvokeAnswer {
  /** `cap_` and 16 hex digits. */
  readonly requestId: string;
  readonly capability: string;
  readonly operation: string;
  readonly account?: string;
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
  readonly caller: CapabilityCaller;
  readonly capability: string;
  readonly operation: CapabilityOperation;
  readonly account?: string;
  /** How the user knows the account: its email, or its name. */
  readonly accountName?: string;
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
  readonly requestId: string;
  readonly action: "invoke" | "auth-begin" | "auth-complete" | "auth-poll" | "unlink";
  readonly user: string;
  readonly chatId?: string;
  readonly runId?: string;
  readonly skill?: string;
  /** Empty where none was named, as for a sign-in that this user does not have. */
  readonly capability: string;
  readonly operation?: string;
  readonly account?: string;
  readonly mutating?: boolean;
  /** `sha256:…` of the input, in canonical form. */
  readonly inputDigest?: string;
  readonly idempotencyKey?: string;
  /**
   * `ok`, `repeat`, `pending` (a sign-in that was polled), or the code of the fault. `started` stands before a mutating
   * operation, and before an account is linked or unlinked.
   */
  readonly outcome: string;
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

export interface BeginRequest {
  readonly capability: string;
  readonly account?: string;
  /** Where a listener of the host waits for the browser (`callback-listener.ts`). A run cannot give one. */
  readonly redirectUri?: string;
}

export interface AuthFlow {
  /** `caf_` and 24 hex digits. */
  readonly flowId: string;
  readonly capability: string;
  readonly account?: string;
  readonly authUrl: string;
  readonly flowType: FlowType;
  /** ISO 8601, UTC. */
  readonly expiresAt: string;
  readonly userCode?: string;
  readonly pollIntervalSeconds?: number;
}

export interface CompleteRequest {
  readonly flowId: string;
  /** A code, or whatever the user pasted instead of one. */
  readonly code?: string;
  readonly callbackUrl?: string;
  /** A browser brought it, whoever sent that: it has to carry the `state` that the sign-in expects. */
  readonly isFromBrowser?: boolean;
}

export interface CompletedAuth {
  readonly flowId: string;
  readonly capability: string;
  readonly accountRef: string;
  readonly accountName?: string;
  readonly accountEmail?: string;
}

export type PolledAuth =
  | { readonly status: "pending"; readonly flowId: string; readonly retryAfterSeconds: number }
  | ({ readonly status: "complete" } & CompletedAuth);

export interface ProviderStatus {
  readonly name: string;
  readonly namespace: string;
  readonly kind: "bridge" | "bridge-persistent" | "mcp" | "in-process";
  /** As configured; absent for a provider given as an object. */
  readonly command?: readonly string[];
  /** Where it comes from: `config`, `preset`, `program`. */
  readonly origin: "config" | "preset" | "program";
  readonly capabilities: readonly string[];
  /** Absent: it is there and its definitions are registered. */
  readonly fault?: CapabilityFault;
}
