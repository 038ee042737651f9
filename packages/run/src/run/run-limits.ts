/** A run's limits: who sets them, what it may spend including everything it starts, and the switch that stops it. */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { showCost } from "@metier/base/text";
import type { Config, RunsConfig } from "@metier/skills/config";
import type { RunLimit, TokenUsage } from "../events/run-event.ts";

/**
 * What one run may use; a run that reaches a limit ends with status `limited` and keeps its text so far. `[runs]` in
 * the config changes the defaults, and the policy caps them all.
 *
 * @example
 * ```ts
 * await metier.run({ skill: "summarize-text", message, limits: { timeoutMs: 60_000, maxCost: 0.5 } });
 * ```
 */
export interface RunLimits {
  /** How many times it may call its model. Default: the skill's `max-iterations`, or 10. */
  readonly maxIterations: number;
  /** How long the run may take, in milliseconds. Default: 600,000. */
  readonly timeoutMs: number;
  /** How many bytes its model may write, including reasoning and tool input. Default: 1,000,000. */
  readonly maxOutputBytes: number;
  /** How many tokens it may use, including the runs it starts. Absent: no limit. */
  readonly maxTokens?: number;
  /** What it may cost, including the runs it starts, in US dollars or your prices' currency. Absent: no limit. */
  readonly maxCost?: number;
}

/** Missing or `undefined` means no request. */
type LimitWish = { readonly [Name in keyof RunLimits]?: RunLimits[Name] | undefined };

/**
 * What one run may use: the config's limits, overridden by each request in turn, and never more than the policy allows.
 * Throws `UsageError` for an invalid limit.
 */
export function chooseLimits(
  { runs, policyRuns }: Pick<Config, "runs" | "policyRuns">,
  ...wishes: readonly (LimitWish | undefined)[]
): RunLimits {
  const told = [toLimits(runs), ...wishes].flatMap((limits) => Object.entries(limits ?? {}));
  const wanted = new Map(told.flatMap(([name, limit]) => (limit === undefined ? [] : [[name, limit]])));
  for (const [name, limit] of wanted) {
    // A JavaScript program may pass anything, and a limit that isn't a number is never reached.
    if (!(limit > 0))
      throw new UsageError(`The limit \`${name}\` is \`${limit}\`; it must be a number above 0.`);
  }
  for (const [name, most] of Object.entries(toLimits(policyRuns))) {
    wanted.set(name, Math.min(wanted.get(name) ?? most, most));
  }
  return Object.fromEntries(wanted) as unknown as RunLimits;
}

function toLimits({ timeoutSeconds, ...runs }: Partial<RunsConfig>): Partial<RunLimits> {
  const { maxIterations, maxOutputBytes, maxTokens, maxCost } = runs;
  const timeoutMs = timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
  return presentFields({ maxIterations, timeoutMs, maxOutputBytes, maxTokens, maxCost });
}

/** What all runs of a conversation may spend together; a missing limit doesn't apply. */
export interface BudgetLimits {
  /** How many tokens, input and output together. */
  readonly maxTokens?: number | undefined;
  /** In US dollars, or in the currency of the configured prices. */
  readonly maxCost?: number | undefined;
  /** The owner, for messages: `this conversation`. Default: the current run. */
  readonly owner?: string | undefined;
}

export interface Budget {
  /** The tokens used so far. */
  readonly usage: TokenUsage;
  /** What they cost so far, in the currency of the prices. */
  readonly cost: number;
  /** Whether anything in it had a price; otherwise `cost` is meaningless. */
  readonly isPriced: boolean;
  /** Whether money is limited, here or by a caller. */
  readonly limitsCost: boolean;
  /** `cost` is absent if no price is known. */
  add(usage: TokenUsage, cost?: number): void;
  /** The first limit that is used up, its own or a caller's. */
  reached(): LimitReached | undefined;
}

export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** What a run may spend in tokens and money. What a nested run spends also counts for its callers. */
export function createBudget(
  { maxTokens, maxCost, owner }: BudgetLimits = {},
  ...callers: readonly (Budget | undefined)[]
): Budget {
  let usage = NO_USAGE;
  let cost = 0;
  let isPriced = false;
  const whose = owner === undefined ? "" : ` of ${owner}`;
  const above = callers.filter((caller) => caller !== undefined);
  return {
    get usage() {
      return usage;
    },
    get cost() {
      return cost;
    },
    get isPriced() {
      return isPriced;
    },
    limitsCost: maxCost !== undefined || above.some(({ limitsCost }) => limitsCost),
    add(more, price) {
      usage = addUsage(usage, more);
      cost += price ?? 0;
      isPriced ||= price !== undefined;
      for (const caller of above) caller.add(more, price);
    },
    reached() {
      if (maxTokens !== undefined && usage.totalTokens >= maxTokens) {
        return { limit: "tokens", message: `used ${usage.totalTokens} of ${maxTokens} tokens${whose}` };
      }
      if (maxCost !== undefined && cost >= maxCost) {
        return { limit: "cost", message: `spent ${showCost(cost)} of $${maxCost}${whose}` };
      }
      return above.map((caller) => caller.reached()).find((limit) => limit !== undefined);
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

interface LimitReached {
  /** Which of the limits it is. */
  readonly limit: RunLimit;
  /** How much was used and allowed. */
  readonly message: string;
}

/** The longest timer; with more, it would fire immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface StopFault {
  readonly code: string;
  readonly message: string;
}

export interface RunStop {
  /** Ends the model call and every tool of the run. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  /** The limit that was reached, if one was. */
  reached(): LimitReached | undefined;
  /** What the model wrote: text, reasoning, tool input. */
  onOutput(text: string): void;
  /** Why it can't continue, if so. */
  failed(): StopFault | undefined;
  /** It can't continue: it ends as `failed`. */
  fail(code: string, message: string): void;
  /** The run continues in another process: everything in progress here is ended. */
  leave(): void;
  /** Stops the clock; the run has ended. */
  end(): void;
}

/**
 * The switch that stops a run: by its caller, the clock, its spending or its output. `activeMs`: how long it was worked
 * on before.
 */
export function createStop(
  limits: RunLimits,
  budget: Budget,
  caller: AbortSignal | undefined,
  activeMs = 0,
): RunStop {
  const own = new AbortController();
  let stopped: LimitReached | undefined;
  let broken: StopFault | undefined;
  let bytes = 0;
  const stop = (limit: RunLimit, message: string): void => {
    stopped ??= { limit, message };
    own.abort(new Error(message));
  };
  const timeoutMs = Math.min(limits.timeoutMs, LONGEST_TIMER_MS);
  const leftMs = Math.max(1, timeoutMs - activeMs);
  const timer = setTimeout(() => stop("time", `timed out after ${timeoutMs / 1000} s`), leftMs);
  return {
    signal: caller ? AbortSignal.any([caller, own.signal]) : own.signal,
    get cancelled() {
      return stopped === undefined && (caller?.aborted ?? false);
    },
    reached: () => stopped ?? budget.reached(),
    onOutput(text) {
      bytes += Buffer.byteLength(text);
      if (bytes > limits.maxOutputBytes) {
        stop("output", `the model wrote more than ${limits.maxOutputBytes} bytes`);
      }
    },
    failed: () => broken,
    fail(code, message) {
      broken ??= { code, message };
      own.abort(new Error(message));
    },
    leave: () => own.abort(new Error("The run continues in another process.")),
    end: () => clearTimeout(timer),
  };
}
