/**
 * A person's confirmation of exactly one change. No flag replaces it; if nobody can be asked, the answer is no. A
 * postponed change waits as a plan: what to do, for whom, and the id to ask again.
 */
import { randomBytes } from "node:crypto";
import { dropOldest } from "@metier/base/turns";
import { type Answer, answerFault, answerWith, type CapabilityFault } from "./capability.ts";
import type {
  BrokerCallOptions,
  Confirmed,
  ConfirmMutation,
  KeptChange,
  MutationPlan,
} from "./capability-broker.ts";
import { digestJson } from "./plain-json.ts";

/** Why it is refused; `undefined`: it may be done. */
export async function confirmChange(
  plans: MutationPlans,
  change: PlannedChange,
  planId: string | undefined,
  { confirm, signal }: BrokerCallOptions,
  kept?: Pick<KeptChange, "confirm">,
): Promise<CapabilityFault | undefined> {
  const made = plans.make(change, planId);
  if (!made.ok) return made.fault;
  const plan = made.value;
  const what = `\`${change.operation.name}\` of \`${change.capability}\``;
  const askNow = confirm && (() => ask(() => confirm(plan, signal), signal));
  const answer = kept ? await kept.confirm(plan, askNow) : await askNow?.();
  if (answer === undefined) {
    return notConfirmed(
      `${what} makes a change, and nobody can confirm it here.`,
      "Call it where a person can answer: in a terminal, or from a program that passes `confirm`.",
    );
  }
  if (typeof answer === "object") return answer;
  if (answer === "cancelled") return answerFault("capability_cancelled", "The call was cancelled.").fault;
  if (answer === "later") {
    plans.keep(plan);
    return notConfirmed(
      `${what} waits for confirmation as plan \`${plan.planId}\`.`,
      `After the user confirms it, call it again with the same input and the plan id \`${plan.planId}\`.`,
    );
  }
  plans.settle(plan);
  if (answer === "yes") return undefined;
  return answer === "no"
    ? notConfirmed(`The user declined ${what}.`, "Ask the user what to do instead; do not repeat the call.")
    : notConfirmed(`The user could not be asked about ${what}: the question failed.`, "Try again later.");
}

/** An invalid answer does not count as yes. */
async function ask(
  question: () => ReturnType<ConfirmMutation>,
  signal: AbortSignal | undefined,
): Promise<Confirmed> {
  if (signal?.aborted) return "cancelled";
  const { promise: cancelled, resolve } = Promise.withResolvers<"cancelled">();
  const cancel = (): void => resolve("cancelled");
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const answer = await Promise.race([question(), cancelled]);
    return ["yes", "no", "later", "cancelled"].includes(answer) ? answer : "failed";
  } catch {
    return signal?.aborted ? "cancelled" : "failed"; // The asker reports what went wrong; here it does not count as yes.
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function notConfirmed(message: string, hint: string): CapabilityFault {
  return { code: "capability_mutation_not_confirmed", message, hint };
}

/** Keeps only postponed plans, in memory, for a limited time. */
export interface MutationPlans {
  /** A new plan, or the one named by `planId`. A change that was postponed before keeps its id. */
  make(change: PlannedChange, planId?: string): Answer<MutationPlan>;
  /** Postponed: it can be asked again. */
  keep(plan: MutationPlan): void;
  /** Decided: it was confirmed or refused. */
  settle(plan: MutationPlan): void;
  forget(isMeant: (userId: string) => boolean): void;
}

export type PlannedChange = Omit<MutationPlan, "planId" | "fingerprint">;

const KEPT_FOR_MS = 30 * 60_000;
/** Limits for all users and for one user, so that nobody can push out the plans of others. */
const MOST_PLANS = 10_000;
const MOST_OF_ONE_USER = 100;

export function createMutationPlans(now: () => number = Date.now): MutationPlans {
  const kept = new Map<string, { readonly plan: MutationPlan; readonly until: number }>();
  const ofUser = (userId: string): readonly MutationPlan[] => {
    for (const [id, { until }] of kept) if (until <= now()) kept.delete(id);
    return [...kept.values()].map(({ plan }) => plan).filter(({ caller }) => caller.userId === userId);
  };
  return {
    make(change, planId) {
      const { caller, capability, operation, account = null, input } = change;
      // A confirmation covers exactly this.
      const fingerprint = digestJson([caller.userId, capability, operation.name, account, input]);
      const mine = ofUser(caller.userId);
      const meant = mine.find((plan) =>
        planId === undefined ? plan.fingerprint === fingerprint : plan.planId === planId,
      );
      if (planId === undefined || meant?.fingerprint === fingerprint) {
        const id = meant?.planId ?? `plan_${randomBytes(8).toString("hex")}`;
        return answerWith({ planId: id, fingerprint, ...change });
      }
      return answerFault(
        "capability_mutation_plan_mismatch",
        meant
          ? `The plan \`${planId}\` does not match: capability, operation, account and input must be the same as when it was made.`
          : "This user has no such plan; undecided plans are kept for half an hour.",
        { hint: "Call the operation without a plan id to make and confirm a new plan." },
      );
    },
    keep(plan) {
      kept.delete(plan.planId);
      kept.set(plan.planId, { plan, until: now() + KEPT_FOR_MS });
      const [oldest, ...others] = ofUser(plan.caller.userId);
      if (oldest && others.length >= MOST_OF_ONE_USER) kept.delete(oldest.planId);
      dropOldest(kept, MOST_PLANS);
    },
    settle: ({ planId }) => void kept.delete(planId),
    forget(isMeant) {
      for (const [id, { plan }] of kept) if (isMeant(plan.caller.userId)) kept.delete(id);
    },
  };
}
