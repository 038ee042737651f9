/**
 * Changes that wait for a person: what exactly is to be done, for whom, and under which id it can be asked for again. Only a
 * plan that was put off is kept, in memory, for a while.
 */
import { randomBytes } from "node:crypto";
import type { MutationPlan } from "./capability-broker.ts";
import { type Answer, done, refuse } from "./capability-fault.ts";
import { digestJson } from "./digest-json.ts";

export interface MutationPlans {
  /** A new plan, or the one that is meant by `planId`. The same change that was put off before keeps its id. */
  make(change: PlannedChange, planId?: string): Answer<MutationPlan>;
  /** Put off: it can be asked for again. */
  keep(plan: MutationPlan): void;
  /** Decided: it was confirmed or refused. */
  settle(plan: MutationPlan): void;
}

export type PlannedChange = Omit<MutationPlan, "planId" | "fingerprint">;

const KEPT_FOR_MS = 30 * 60_000;
/** Of all users, and of one: nobody can push out the plans of others. */
const MOST_PLANS = 10_000;
const MOST_OF_ONE_USER = 100;

interface KeptPlan {
  readonly plan: MutationPlan;
  readonly until: number;
}

export function createMutationPlans(now: () => number = Date.now): MutationPlans {
  const kept = new Map<string, KeptPlan>();
  const ofUser = (userId: string): readonly MutationPlan[] => {
    for (const [id, { until }] of kept) if (until <= now()) kept.delete(id);
    return [...kept.values()].map(({ plan }) => plan).filter(({ caller }) => caller.userId === userId);
  };
  return {
    make(change, planId) {
      const fingerprint = fingerprintOf(change);
      const mine = ofUser(change.caller.userId);
      const meant = mine.find((plan) =>
        planId === undefined ? plan.fingerprint === fingerprint : plan.planId === planId,
      );
      if (planId === undefined || meant?.fingerprint === fingerprint) {
        return done({ planId: meant?.planId ?? makePlanId(), fingerprint, ...change });
      }
      return refuse(
        "capability_mutation_plan_mismatch",
        meant
          ? `The plan \`${planId}\` is for something else: capability, operation, account and input have to be the same as when it was made.`
          : "There is no such plan of this user; plans are kept for half an hour, until they are decided.",
        { hint: "Call the operation without a plan id: a new plan is made and confirmed." },
      );
    },
    keep(plan) {
      kept.delete(plan.planId);
      kept.set(plan.planId, { plan, until: now() + KEPT_FOR_MS });
      const [oldest, ...others] = ofUser(plan.caller.userId);
      if (oldest && others.length >= MOST_OF_ONE_USER) kept.delete(oldest.planId);
      if (kept.size > MOST_PLANS) kept.delete(kept.keys().next().value ?? "");
    },
    settle: ({ planId }) => void kept.delete(planId),
  };
}

/** Who confirms a change confirms exactly this. */
function fingerprintOf({ caller, capability, operation, account, input }: PlannedChange): string {
  return digestJson([caller.userId, capability, operation.name, account ?? null, input]);
}

function makePlanId(): string {
  return `plan_${randomBytes(8).toString("hex")}`;
}
