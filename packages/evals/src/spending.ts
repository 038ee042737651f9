/**
 * The limits of a whole evaluation: tokens, money and time. When one is used up, everything running is stopped. Also
 * finds out which models it asks, since a cost limit needs their prices.
 */
import { MetierError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { createBudget } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { GivenModel } from "@metier/run/model";
import type { Metier } from "@metier/runtime";
import { type Arm, type OpenMetier, openArm } from "./run-eval.ts";

export interface SpendingLimits {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly timeoutMs?: number;
  /** Ends the evaluation from outside. */
  readonly signal?: AbortSignal;
}

export interface Used {
  readonly tokens: number;
  /** In dollars; absent if no price is known. */
  readonly cost?: number | undefined;
}

export interface Spending {
  /** Aborts when a limit is used up, or when the caller wants it to end. */
  readonly signal: AbortSignal;
  /** Gets every event of every run. */
  note(event: RunEvent): void;
  /** What was used so far. */
  used(): Used;
  /** Which limit ended it, as a sentence. */
  reached(): string | undefined;
  isCancelled(): boolean;
  end(): void;
}

/** A longer timer would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export function createSpending({ maxTokens, maxCost, timeoutMs, signal: outer }: SpendingLimits): Spending {
  const budget = createBudget(presentFields({ owner: "this evaluation", maxTokens, maxCost }));
  const stop = new AbortController();
  let message: string | undefined;
  const exceed = (what: string): void => {
    message ??= `Stopped: ${what}.`;
    stop.abort(new Error(message));
  };
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(
          () => exceed(`the evaluation reached its time limit of ${timeoutMs / 1000} s`),
          Math.min(timeoutMs, LONGEST_TIMER),
        );
  return {
    signal: outer ? AbortSignal.any([outer, stop.signal]) : stop.signal,
    note(event) {
      if (event.type !== "model-answered") return;
      budget.add(event.usage, event.cost);
      const used = budget.reached();
      if (used) exceed(used.message);
    },
    used: () => ({ tokens: budget.usage.totalTokens, cost: budget.isPriced ? budget.cost : undefined }),
    reached: () => message,
    isCancelled: () => outer?.aborted ?? false,
    end: () => clearTimeout(timer),
  };
}

// Which models are asked. Checked before anything runs, so that a missing one costs nothing.

export interface ModelWishes {
  readonly model?: string | GivenModel;
  readonly graderModel?: string | GivenModel;
  readonly maxCost?: number;
  readonly isReplay: boolean;
}

export interface EvalModels {
  /** For people; in a replay, it comes from the recordings. */
  readonly model?: string | undefined;
  readonly grader?: string | undefined;
}

/**
 * Throws `MetierError` with a code for what is wrong with a model: there is none, its name is unknown, or its cost is
 * limited but its price is unknown.
 */
export async function requireModel(
  open: OpenMetier,
  arms: readonly Arm[],
  wishes: ModelWishes,
  folder: string,
): Promise<EvalModels> {
  if (wishes.isReplay) return {};
  let model = "";
  for (const arm of arms) {
    const metier = await openArm(open, arm, folder);
    try {
      model ||= await nameModel(metier, arm, wishes, wishes.model);
      // The grader has no skill that could name a model.
      await nameModel(metier, arm, wishes, wishes.graderModel ?? wishes.model ?? "default");
    } finally {
      await metier.capabilities.close();
    }
  }
  return { model, grader: showModel(wishes.graderModel) ?? model };
}

/** Uses the plan of a run, which makes every check; only a problem with the model ends the evaluation here. */
async function nameModel(
  metier: Metier,
  { skill }: Arm,
  { maxCost }: ModelWishes,
  model: ModelWishes["model"],
): Promise<string> {
  const limits = maxCost === undefined ? undefined : { maxCost };
  const planned = await metier.plan(presentFields({ skill, source: "code", model, limits }));
  if (planned.ok) return planned.outline.model;
  const { error } = planned.result;
  const code = MODEL_FAULTS.find(([fault]) => fault === error?.code)?.[1];
  if (error === undefined || code === undefined) return showModel(model) ?? "";
  throw new MetierError(code, error.message, { hint: WITHOUT_MODEL });
}

const MODEL_FAULTS = [
  ["model.missing", "model.unavailable"],
  ["model.unknown", "model.unknown"],
  ["model.no-price", "model.no-price"],
  ["runs.day-budget", "runs.day-budget"],
] as const;

const WITHOUT_MODEL = "Or evaluate from recordings: `--replay <folder>`. `--record <folder>` makes them.";

function showModel(model: ModelWishes["model"]): string | undefined {
  return typeof model === "object" ? `${model.provider}/${model.modelId}` : model;
}
