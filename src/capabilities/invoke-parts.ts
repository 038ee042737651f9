/** What an invocation uses, and what it is between its steps. */
import type {
  AccountStore,
  AuditLog,
  CapabilityRegistry,
  MakeContext,
  RegisteredCapability,
} from "./broker-parts.ts";
import type { CapabilityCaller, CapabilityOperation, JsonObject } from "./capability.ts";
import type { ProviderAccount } from "./capability-provider.ts";
import type { IdempotencyJournal } from "./idempotency-journal.ts";
import type { MutationPlans } from "./mutation-plans.ts";
import type { RateLimits } from "./rate-limits.ts";

export interface InvokeParts {
  readonly registry: CapabilityRegistry;
  readonly accounts: AccountStore;
  readonly makeContext: MakeContext;
  readonly limits: RateLimits;
  readonly journal: IdempotencyJournal;
  readonly plans: MutationPlans;
  readonly audit: AuditLog;
  readonly now: () => number;
}

/** A call that passed all checks. */
export interface ReadyCall {
  readonly caller: CapabilityCaller;
  readonly capability: RegisteredCapability;
  readonly operation: CapabilityOperation;
  readonly input: JsonObject;
  readonly account?: ProviderAccount;
  readonly idempotencyKey?: string;
  readonly planId?: string;
}

/** What came of it: the output, and whether an earlier call had it. */
export interface Performed {
  readonly output: JsonObject;
  readonly isRepeat: boolean;
}
