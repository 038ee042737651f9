/**
 * What a run may use: by whom its limits are set, what it may spend with all that it starts, and the switch that stops it.
 */
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { showCost } from "@metier/base/text";
import type { Config, RunsConfig } from "@metier/skills/config";
import type { RunLimit, TokenUsage } from "../events/run-event.ts";

/**
 * What one run may use; one that reaches a limit ends with status `limited` and keeps its text so far. `[runs]` in the
 * config changes the defaults, and the policy caps them all.
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
  /** How many bytes its model may write, with reasoning and tool input. Default: 1,000,000. */
  readonly maxOutputBytes: number;
  /** How many tokens it may use, with the runs it starts. Absent: no limit. */
  readonly maxTokens?: number;
  /** What it may cost, with the runs it starts, in US dollars or your prices' currency. Absent: no limit. */
  readonly maxCost?: number;
}

/** What is left out, or `undefined`, is no wish. */
type LimitWish = { readonly [Name in keyof RunLimits]?: RunLimits[Name] | undefined };

/**
 * What one run may use: the config's word, each wish over the one before, and never more than the policy allows. Throws
 * `UsageError` for a wish that is no limit.
 */
export function chooseLimits(
  { runs, policyRuns }: Pick<Config, "runs" | "policyRuns">,
  ...wishes: readonly (LimitWish | undefined)[]
): RunLimits {
  const told = [toLimits(runs), ...wishes].flatMap((limits) => Object.entries(limits ?? {}));
  const wanted = new Map(told.flatMap(([name, limit]) => (limit === undefined ? [] : [[name, limit]])));
  for (const [name, limit] of wanted) {
    // A program in JavaScript may give anything, and what is no number is never reached.
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

/** What all runs of a conversation may spend together; a limit that is left out does not hold. */
export interface BudgetLimits {
  /** How many tokens, input and output together. */
  readonly maxTokens?: number | undefined;
  /** In US dollars, or in the currency of the configured prices. */
  readonly maxCost?: number | undefined;
  /** Whose they are, for messages: `this conversation`. Default: the run that is under way. */
  readonly owner?: string | undefined;
}

export interface Budget {
  /** The tokens that were used so far. */
  readonly usage: TokenUsage;
  /** What they cost so far, in the currency of the prices. */
  readonly cost: number;
  /** Whether anything in it had a price; `cost` says nothing otherwise. */
  readonly isPriced: boolean;
  /** Whether money is limited, here or by a caller. */
  readonly limitsCost: boolean;
  /** `cost` is absent where no price is known. */
  add(usage: TokenUsage, cost?: number): void;
  /** The first limit that is used up, the own one or that of a caller. */
  reached(): LimitReached | undefined;
}

export const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/** What a run may spend in tokens and money. What a nested run spends counts for its callers too. */
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
        return { limit: "tokens", message: `${usage.totalTokens} of ${maxTokens} tokens${whose} are used` };
      }
      if (maxCost !== undefined && cost >= maxCost) {
        return { limit: "cost", message: `${showCost(cost)} of $${maxCost}${whose} is spent` };
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
  /** What was used and what is allowed. */
  readonly message: string;
}

/** The most that a timer takes; with more it would go off at once. */
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
  /** What the model wrote: text, reasoning, input of tools. */
  onOutput(text: string): void;
  /** Why it cannot go on at all, if it cannot. */
  failed(): StopFault | undefined;
  /** It cannot go on at all: it ends `failed`. */
  fail(code: string, message: string): void;
  /** The run goes on in another process: everything under way here is ended. */
  leave(): void;
  /** The clock is stopped; the run has ended. */
  end(): void;
}

/**
 * The switch that stops a run: by the caller, by the clock, by what it spent or by what it wrote. `activeMs`: how long it was
 * worked on before.
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
    leave: () => own.abort(new Error("The run goes on in another process.")),
    end: () => clearTimeout(timer),
  };
}
