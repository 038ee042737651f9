/**
 * Performs what changes something outside: confirmed by a person, recorded before and after, and with an idempotency key at
 * most once. What is known of an earlier call with the key is told without asking anybody.
 */
import type { CallAudit } from "./audit-call.ts";
import type { JsonObject } from "./capability.ts";
import type { InvokeOptions } from "./capability-broker.ts";
import { type Answer, type CapabilityFault, done, refuse } from "./capability-fault.ts";
import { confirmChange } from "./confirm-change.ts";
import { digestJson } from "./digest-json.ts";
import type { JournalClaim, JournaledCall } from "./idempotency-journal.ts";
import type { InvokeParts, Performed, ReadyCall } from "./invoke-parts.ts";
import { askProvider, checkAnswer } from "./perform-operation.ts";

export async function performChange(
  parts: InvokeParts,
  call: ReadyCall,
  audit: CallAudit,
  options: InvokeOptions,
): Promise<Answer<Performed>> {
  const { journal, plans } = parts;
  const { caller, capability, operation, account, input, planId } = call;
  const journaled = describeCall(call);
  const known = journaled && journal.recall(journaled);
  if (known) return repeat(known);
  const accountName = account?.accountEmail ?? account?.accountName;
  const change = {
    caller,
    capability: capability.definition.id,
    operation,
    input,
    ...(account && { account: account.accountRef }),
    ...(accountName !== undefined && { accountName }),
  };
  const { confirm, signal } = options;
  const refused = await confirmChange(plans, change, { planId, confirm, signal });
  if (refused) return { ok: false, fault: refused };
  const claim = journaled && (await journal.begin(journaled, signal));
  if (claim && "ok" in claim) return repeat(claim);
  return performClaimed(parts, call, audit, { claim, signal });
}

interface Claimed {
  readonly claim: JournalClaim | undefined;
  readonly signal: AbortSignal | undefined;
}

async function performClaimed(
  parts: InvokeParts,
  call: ReadyCall,
  audit: CallAudit,
  { claim, signal }: Claimed,
): Promise<Answer<Performed>> {
  try {
    signal?.throwIfAborted();
    audit.write("started");
  } catch (fault) {
    claim?.release();
    if (signal?.aborted) return refuse("capability_cancelled", "The call was cancelled; nothing was done.");
    throw fault;
  }
  try {
    const answered = await askProvider(parts, call, signal);
    const answer = answered.ok ? await checkAnswer(call, answered.value) : answered;
    if (claim) settleClaim(claim, answered, answer, call.operation.idempotent);
    if (answer.ok) return done({ output: answer.value, isRepeat: false });
    return { ok: false, fault: answered.ok ? answer.fault : tellDoubt(answer.fault, call) };
  } catch (fault) {
    claim?.abandon();
    throw fault;
  }
}

function describeCall({
  caller,
  capability,
  operation,
  input,
  account,
  idempotencyKey,
}: ReadyCall): JournaledCall | undefined {
  if (idempotencyKey === undefined) return undefined;
  return {
    userId: caller.userId,
    capability: capability.definition.id,
    operation: operation.name,
    ...(account && { account: account.accountRef }),
    key: idempotencyKey,
    inputDigest: digestJson(input),
    isIdempotent: operation.idempotent,
    limitMs: capability.timeoutMs,
  };
}

/** Only a result is a repetition; why there is none is told as it is. */
function repeat(known: Answer<JsonObject>): Answer<Performed> {
  return known.ok ? done({ output: known.value, isRepeat: true }) : known;
}

/** After these nobody knows whether the change was made. */
const DOUBTFUL: ReadonlySet<string> = new Set([
  "capability_backend_unavailable",
  "capability_invalid_output",
  "capability_cancelled",
  "capability_outcome_unknown",
]);

/** By these a provider says that it has not begun. */
const NOT_BEGUN: ReadonlySet<string> = new Set([
  "capability_not_found",
  "capability_access_denied",
  "capability_auth_required",
  "capability_account_ambiguous",
  "capability_invalid_input",
  "capability_rate_limited",
]);

/** Any other fault is the result, and stays it: a provider that failed on the way may have done a part. */
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
    // The caller is told the result all the same; to a repetition the intent says that nobody knows.
  }
}

function tellDoubt(fault: CapabilityFault, { operation, idempotencyKey }: ReadyCall): CapabilityFault {
  if (!DOUBTFUL.has(fault.code)) return fault;
  const hint =
    operation.idempotent && idempotencyKey !== undefined
      ? "Call again with the same idempotency key: the operation is idempotent."
      : "Look at the system itself whether it happened before you call again.";
  return { ...fault, message: `${fault.message} Whether the change was made is not known.`, hint };
}
