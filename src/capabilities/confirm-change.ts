/** A person's yes to exactly one change. No flag gives it; where nobody can be asked, the answer is no. */
import type { ConfirmMutation } from "./capability-broker.ts";
import { type CapabilityFault, refuse } from "./capability-fault.ts";
import type { MutationPlans, PlannedChange } from "./mutation-plans.ts";

export interface ConfirmOptions {
  readonly planId?: string | undefined;
  readonly confirm?: ConfirmMutation | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Why it is not done; `undefined`: it may be. */
export async function confirmChange(
  plans: MutationPlans,
  change: PlannedChange,
  { planId, confirm, signal }: ConfirmOptions,
): Promise<CapabilityFault | undefined> {
  const made = plans.make(change, planId);
  if (!made.ok) return made.fault;
  const plan = made.value;
  const what = `\`${change.operation.name}\` of \`${change.capability}\``;
  if (!confirm) {
    return notConfirmed(
      `${what} changes something, and nobody can be asked here whether it may.`,
      "Call it where a person answers: in a terminal, or from a program that gives `confirm`.",
    );
  }
  const answer = await ask(() => confirm(plan, signal), signal);
  if (answer === "cancelled") return refuse("capability_cancelled", "The call was cancelled.").fault;
  if (answer === "later") {
    plans.keep(plan);
    return notConfirmed(
      `${what} waits to be confirmed, as the plan \`${plan.planId}\`.`,
      `When the user has confirmed it, call it again with the same input and the plan id \`${plan.planId}\`.`,
    );
  }
  plans.settle(plan);
  if (answer === "yes") return undefined;
  return answer === "no"
    ? notConfirmed(`The user said no to ${what}.`, "Ask the user what to do instead; do not repeat the call.")
    : notConfirmed(`Nobody could be asked about ${what}: the question failed.`, "Try again later.");
}

type Confirmed = Awaited<ReturnType<ConfirmMutation>> | "cancelled" | "failed";

/** An answer that is none is no yes. */
async function ask(
  question: () => ReturnType<ConfirmMutation>,
  signal: AbortSignal | undefined,
): Promise<Confirmed> {
  if (signal?.aborted) return "cancelled";
  let cancel = (): void => undefined;
  const cancelled = new Promise<"cancelled">((resolve) => {
    cancel = () => resolve("cancelled");
  });
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const answer = await Promise.race([question(), cancelled]);
    return ["yes", "no", "later", "cancelled"].includes(answer) ? answer : "failed";
  } catch {
    return signal?.aborted ? "cancelled" : "failed"; // What went wrong is the asker's to report; here it is no yes.
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function notConfirmed(message: string, hint: string): CapabilityFault {
  return { code: "capability_mutation_not_confirmed", message, hint };
}
