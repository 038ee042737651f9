/**
 * What all runs of a day may cost together (`[runs] max-cost-per-day`), counted from the kept logs, or the ledger if no
 * logs are kept: so it includes runs of other processes and killed ones.
 */
import { done, type Result, refused } from "@metier/base/result";
import { showCost } from "@metier/base/text";
import type { RunsConfig } from "@metier/skills/config";
import { countLedger } from "../events/cost-ledger.ts";
import { countCost } from "../events/count-cost.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import { type Budget, type BudgetLimits, createBudget, NO_USAGE } from "./run-limits.ts";
import type { RunHost } from "./run-request.ts";

/** What a run may spend, within the limits of its callers and the day; or why it doesn't start. */
export function openBudget(
  host: Pick<RunHost, "places" | "config">,
  model: ResolvedModel,
  limits: BudgetLimits,
  around: Budget | undefined,
): Result<Budget, SpendingFault> {
  const wrong = refuseWrongLimits(host);
  if (wrong) return refused(wrong);
  const day = openDayBudget(host, model);
  const budget = createBudget(limits, around, day);
  const fault = refuseSpending(budget, day, model);
  return fault ? refused(fault) : done(budget);
}

/** An unreadable limit isn't the same as none. Checked before a model is chosen, because that may be wrong too. */
export function refuseWrongLimits({ config }: Pick<RunHost, "config">): SpendingFault | undefined {
  const [wrong] = config().wrongLimits ?? [];
  if (wrong === undefined) return undefined;
  const hint = "Correct it and try again; `metier doctor` lists every problem.";
  return { code: "config.invalid", message: `Not started: ${wrong}`, hint };
}

/** `undefined`: there is no such limit, or the model costs nothing. */
function openDayBudget(
  { places, config }: Pick<RunHost, "places" | "config">,
  { isFree, pricing }: Pick<ResolvedModel, "isFree" | "pricing">,
  now: () => Date = () => new Date(),
): Budget | undefined {
  const { maxCostPerDay: most }: Pick<RunsConfig, "maxCostPerDay"> = config().runs;
  if (most === undefined || (isFree && pricing === undefined)) return undefined;
  return {
    usage: NO_USAGE,
    get cost() {
      return countSpent(places, now());
    },
    isPriced: true,
    limitsCost: true,
    add: () => undefined, // The run's log has it.
    reached() {
      const spent = countSpent(places, now());
      if (spent < most) return undefined;
      const message = `today's runs cost ${showCost(spent)} of $${most} (\`runs.max-cost-per-day\`)`;
      return { limit: "cost", message };
    },
  };
}

interface SpendingFault {
  readonly code: "config.invalid" | "model.no-price" | "runs.day-budget";
  readonly message: string;
  readonly hint: string;
}

/** Why a run doesn't start: its budget is used up, or its cost can't be known. */
function refuseSpending(
  budget: Pick<Budget, "limitsCost">,
  day: Budget | undefined,
  { id, alias = "<alias>", pricing, isFree }: Pick<ResolvedModel, "id" | "alias" | "pricing" | "isFree">,
): SpendingFault | undefined {
  if (budget.limitsCost && pricing === undefined && !isFree) {
    return {
      code: "model.no-price",
      message: `The cost is limited, but no price is known for \`${id}\`, so the limit cannot be enforced.`,
      hint: `Set \`input-price\` and \`output-price\` under \`[models.${alias}]\` (0 if it is free), or limit tokens instead.`,
    };
  }
  const used = day?.reached();
  if (used === undefined) return undefined;
  return {
    code: "runs.day-budget",
    message: `Not started: ${used.message}.`,
    hint: "Wait until tomorrow, or raise `max-cost-per-day` under `[runs]` in your config.",
  };
}

/** By runs that keep their logs, and by those that keep only this. */
function countSpent(places: RunHost["places"], now: Date): number {
  const since = startOfDay(now);
  return countCost(places, since) + countLedger(places, since);
}

/** In the user's time zone. */
function startOfDay(now: Date): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
}
