/** What a whole evaluation may use: tokens, money and time. When one is used up, everything that is under way is stopped. */
import type { RunEvent } from "../events/run-event.ts";
import { costOf, type Pricing } from "../model/pricing.ts";
import { type Budget, createBudget } from "../run/budget.ts";

export interface SpendingLimits {
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly timeoutMs?: number;
  /** Ends the evaluation from outside. */
  readonly signal?: AbortSignal;
}

export interface Spending extends Pick<Budget, "usage" | "cost"> {
  /** Comes when a limit is used up, or the caller wants it to end. */
  readonly signal: AbortSignal;
  /** Hears every event of every run. */
  note(event: RunEvent, pricing: Pricing | undefined): void;
  /** Which limit ended it, as a sentence. */
  reached(): string | undefined;
  isCancelled(): boolean;
  end(): void;
}

/** A longer timer would end at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

export function createSpending({ maxTokens, maxCost, timeoutMs, signal: outer }: SpendingLimits): Spending {
  const budget = createBudget({
    owner: "this evaluation",
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
  });
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
    get usage() {
      return budget.usage;
    },
    get cost() {
      return budget.cost;
    },
    signal: outer ? AbortSignal.any([outer, stop.signal]) : stop.signal,
    note(event, pricing) {
      if (event.type !== "model-answered") return;
      budget.add(event.usage, costOf(event.usage, pricing));
      const used = budget.reached();
      if (used) exceed(used.message);
    },
    reached: () => message,
    isCancelled: () => outer?.aborted ?? false,
    end: () => clearTimeout(timer),
  };
}
