/**
 * What a whole evaluation may use: tokens, money and time. When one is used up, everything that is under way is stopped.
 * Also which models it asks, since a limit on money needs their prices.
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
  /** In dollars; absent where no price is known. */
  readonly cost?: number | undefined;
}

export interface Spending {
  /** Comes when a limit is used up, or the caller wants it to end. */
  readonly signal: AbortSignal;
  /** Hears every event of every run. */
  note(event: RunEvent): void;
  /** What was used so far. */
  used(): Used;
  /** Which limit ended it, as a sentence. */
  reached(): string | undefined;
  isCancelled(): boolean;
  end(): void;
}

/** A longer timer would end at once. */
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
          () => exceed(`the evaluation took ${timeoutMs / 1000} s, as long as it may`),
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

// Which models are asked. Said before anything is run, so that a missing one costs nothing.

export interface ModelWishes {
  readonly model?: string | GivenModel;
  readonly graderModel?: string | GivenModel;
  readonly maxCost?: number;
  readonly isReplay: boolean;
}

export interface EvalModels {
  /** For people; of a replay the recordings say it. */
  readonly model?: string | undefined;
  readonly grader?: string | undefined;
}

/**
 * Throws `MetierError` with the code of what is wrong with a model: there is none, its name is unknown, or its cost is limited
 * and its price is not known.
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
      // Whoever grades has no skill that could name a model.
      await nameModel(metier, arm, wishes, wishes.graderModel ?? wishes.model ?? "default");
    } finally {
      await metier.capabilities.close();
    }
  }
  return { model, grader: showModel(wishes.graderModel) ?? model };
}

/** By the plan of a run, which makes every check; only what is wrong with the model ends the evaluation here. */
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

const WITHOUT_MODEL =
  "Or evaluate without a model, from recordings: `--replay <folder>`; `--record <folder>` makes them.";

function showModel(model: ModelWishes["model"]): string | undefined {
  return typeof model === "object" ? `${model.provider}/${model.modelId}` : model;
}
