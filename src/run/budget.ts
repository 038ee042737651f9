/** What a run may spend in tokens and money. What a nested run spends counts for its callers too. */
import type { RunLimit, TokenUsage } from "../events/run-event.ts";

export interface BudgetLimits {
  readonly maxTokens?: number;
  /** In the currency of the configured prices. */
  readonly maxCost?: number;
  /** Whose they are, for messages: `this conversation`. Default: the run that is under way. */
  readonly owner?: string;
}

export interface Budget {
  readonly usage: TokenUsage;
  readonly cost: number;
  add(usage: TokenUsage, cost?: number): void;
  /** The first limit that is used up, the own one or that of a caller. */
  reached(): { readonly limit: RunLimit; readonly message: string } | undefined;
}

export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

export function createBudget({ maxTokens, maxCost, owner }: BudgetLimits = {}, caller?: Budget): Budget {
  let usage = NO_USAGE;
  let cost = 0;
  const whose = owner === undefined ? "" : ` of ${owner}`;
  return {
    get usage() {
      return usage;
    },
    get cost() {
      return cost;
    },
    add(more, price = 0) {
      usage = addUsage(usage, more);
      cost += price;
      caller?.add(more, price);
    },
    reached() {
      if (maxTokens !== undefined && usage.totalTokens >= maxTokens) {
        return { limit: "tokens", message: `${usage.totalTokens} of ${maxTokens} tokens${whose} are used` };
      }
      if (maxCost !== undefined && cost >= maxCost) {
        return { limit: "cost", message: `${cost.toFixed(4)} of ${maxCost}${whose} are spent` };
      }
      return caller?.reached();
    },
  };
}

function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}
