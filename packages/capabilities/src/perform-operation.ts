/**
 * Calls the provider after all checks passed, and checks its answer against the schema and for credentials.
 * `performChange` handles operations that change something, `performOperation` the rest.
 */
import { checkJson, type JsonObject, presentFields } from "@metier/base/json";
import type { RateLimits } from "./access.ts";
import type { AccountStore } from "./accounts.ts";
import type { AuditLog, CallAudit } from "./audit.ts";
import { callProvider, type MakeContext } from "./call-provider.ts";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityCaller,
  type CapabilityFault,
  type CapabilityOperation,
  type ProviderAccount,
} from "./capability.ts";
import type { BrokerCallOptions, KeptChange } from "./capability-broker.ts";
import { confirmChange, type MutationPlans } from "./confirm-change.ts";
import type { IdempotencyJournal, JournalClaim, JournaledCall } from "./journal.ts";
import { checkOutput, digestJson } from "./plain-json.ts";
import type { CapabilityRegistry, RegisteredCapability } from "./provider-registry.ts";

/** What an invocation uses. */
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
  readonly account?: ProviderAccount | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly planId?: string | undefined;
}

/** The result: the output, and whether it comes from an earlier call. */
export interface Performed {
  readonly output: JsonObject;
  readonly isRepeat: boolean;
}

/** For operations that only read. */
export async function performOperation(
  parts: Pick<InvokeParts, "makeContext">,
  call: ReadyCall,
  signal?: AbortSignal,
): Promise<Answer<Performed>> {
  const answered = await invokeProvider(parts, call, signal);
  if (!answered.ok) return answered;
  const checked = await checkAnswer(call, answered.value);
  return checked.ok ? answerWith({ output: checked.value, isRepeat: false }) : checked;
}

function invokeProvider(
  { makeContext }: Pick<InvokeParts, "makeContext">,
  { caller, capability, operation, input, account, idempotencyKey }: ReadyCall,
  signal: AbortSignal | undefined,
): Promise<Answer<JsonObject>> {
  const { definition, provider, timeoutMs } = capability;
  const { namespace } = provider;
  return callProvider({ namespace, timeoutMs, signal }, (limit) =>
    provider.invoke(
      presentFields({
        capabilityId: definition.id,
        operation: operation.name,
        input,
        account,
        idempotencyKey,
      }),
      makeContext(namespace, caller, limit),
    ),
  );
}

async function checkAnswer(
  { capability, operation }: ReadyCall,
  output: JsonObject,
): Promise<Answer<JsonObject>> {
  const source = `The output of \`${operation.name}\` of \`${capability.definition.id}\``;
  const safe = checkOutput(source, output);
  if (!safe.ok || !operation.outputSchema) return safe;
  const check = await checkJson(operation.outputSchema, safe.value);
  if (check.ok) return safe;
  return answerFault("capability_invalid_output", `${source} does not match its schema: ${check.message}.`, {
    hint: "This is the provider's fault: its definition promises something else.",
  });
}

/**
 * For operations that change something outside: confirmed by a person, recorded before and after, and made at most once
 * per idempotency key. A known result of an earlier call is returned without asking anyone.
 */
export async function performChange(
  parts: InvokeParts,
  asked: ReadyCall,
  audit: CallAudit,
  options: BrokerCallOptions,
): Promise<Answer<Performed>> {
  const { journal, plans } = parts;
  const { caller, capability, operation, account, input, planId, idempotencyKey } = asked;
  const change = presentFields({
    caller,
    capability: capability.definition.id,
    operation,
    input,
    account: account?.accountRef,
    accountName: account?.accountEmail ?? account?.accountName,
  });
  const kept = await options.keep?.(presentFields({ ...change, idempotencyKey }));
  if (kept && "ok" in kept) return repeat(kept);
  const call = kept ? { ...asked, idempotencyKey: kept.idempotencyKey } : asked;
  const journaled = describeCall(call);
  const known = journaled && journal.recall(journaled);
  if (known) return repeat(known);
  const { signal } = options;
  const refused = await confirmChange(plans, change, planId, options, kept);
  if (refused) return { ok: false, fault: refused };
  const claim = journaled && (await journal.begin(journaled, signal));
  if (claim && "ok" in claim) return repeat(claim);
  return performClaimed(parts, call, audit, { claim, kept }, signal);
}

/** Where a change is recorded before and after: under its key, and in its caller's journal. */
interface Recording {
  readonly claim: JournalClaim | undefined;
  readonly kept: KeptChange | undefined;
}

async function performClaimed(
  parts: InvokeParts,
  call: ReadyCall,
  audit: CallAudit,
  { claim, kept }: Recording,
  signal: AbortSignal | undefined,
): Promise<Answer<Performed>> {
  try {
    signal?.throwIfAborted();
    await audit.write("started");
    signal?.throwIfAborted(); // Nothing was started while it was written.
    await kept?.begin();
  } catch (fault) {
    claim?.release();
    if (signal?.aborted)
      return answerFault("capability_cancelled", "The call was cancelled; nothing was done.");
    throw fault;
  }
  try {
    const answered = await invokeProvider(parts, call, signal);
    const answer = answered.ok ? await checkAnswer(call, answered.value) : answered;
    if (claim) settleClaim(claim, answered, answer, call.operation.idempotent);
    // If it can no longer be recorded, its run has stopped; still return what was done.
    if (isCertain(answered, call.operation)) await kept?.end(answer).catch(() => undefined);
    if (answer.ok) return answerWith({ output: answer.value, isRepeat: false });
    return { ok: false, fault: answered.ok ? answer.fault : tellDoubt(answer.fault, call) };
  } catch (fault) {
    claim?.abandon();
    throw fault;
  }
}

function describeCall(call: ReadyCall): JournaledCall | undefined {
  const { caller, capability, operation, input, account, idempotencyKey } = call;
  if (idempotencyKey === undefined) return undefined;
  return {
    userId: caller.userId,
    capability: capability.definition.id,
    operation: operation.name,
    account: account?.accountRef,
    key: idempotencyKey,
    inputDigest: digestJson(input),
    isIdempotent: operation.idempotent,
    limitMs: capability.timeoutMs,
  };
}

/** Only a result is a repetition; a reason for its absence is returned as is. */
function repeat(known: Answer<JsonObject>): Answer<Performed> {
  return known.ok ? answerWith({ output: known.value, isRepeat: true }) : known;
}

/** After these, the outcome of the change is unknown. */
const DOUBTFUL: ReadonlySet<string> = new Set([
  "capability_backend_unavailable",
  "capability_invalid_output",
  "capability_cancelled",
  "capability_outcome_unknown",
]);

/** With these a provider says that it has not started. */
const NOT_BEGUN: ReadonlySet<string> = new Set([
  "capability_not_found",
  "capability_access_denied",
  "capability_auth_required",
  "capability_account_ambiguous",
  "capability_invalid_input",
  "capability_rate_limited",
]);

/** Whether the outcome is known and final: a failed idempotent operation may be retried. */
function isCertain(answered: Answer<JsonObject>, { idempotent }: CapabilityOperation): boolean {
  return answered.ok || !(idempotent || DOUBTFUL.has(answered.fault.code));
}

/** Any other fault is the final result: a provider that failed midway may have done part of it. */
function settleClaim(
  claim: JournalClaim,
  answered: Answer<JsonObject>,
  answer: Answer<JsonObject>,
  isIdempotent: boolean,
): void {
  try {
    if (answered.ok) claim.finish(answer);
    else if (DOUBTFUL.has(answered.fault.code)) claim.abandon();
    else if (isIdempotent || NOT_BEGUN.has(answered.fault.code)) claim.release();
    else claim.finish(answer);
  } catch {
    // The caller still gets the result; for a repetition, the intent says that the outcome is unknown.
  }
}

function tellDoubt(fault: CapabilityFault, { operation, idempotencyKey }: ReadyCall): CapabilityFault {
  if (!DOUBTFUL.has(fault.code)) return fault;
  const hint =
    operation.idempotent && idempotencyKey !== undefined
      ? "Call again with the same input, and the same idempotency key if you used one: the operation is idempotent."
      : "Before you call again, check in the system itself whether it happened.";
  return { ...fault, message: `${fault.message} It is unknown whether the change was made.`, hint };
}
