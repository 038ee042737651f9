/** The limits of one run, and the switch that stops it: by the caller, by the clock, or by what it wrote. */
import type { Config, RunsConfig } from "../config/config.ts";
import type { RunLimit } from "../events/run-event.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { UsageError } from "../foundation/errors.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { Budget } from "./budget.ts";

export interface RunLimits {
  readonly maxIterations: number;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
}

/**
 * What one run may use: the config's word, each wish over the one before, and never more than the policy allows. Throws
 * `UsageError` for a wish that is no limit.
 */
export function chooseLimits(
  { runs, policyRuns }: Pick<Config, "runs" | "policyRuns">,
  ...wishes: readonly (Partial<RunLimits> | undefined)[]
): RunLimits {
  const told = [toLimits(runs), ...wishes].flatMap((limits) => Object.entries(limits ?? {}));
  const wanted = new Map(told.filter(([, limit]) => limit !== undefined));
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
  const limits = { maxIterations, timeoutMs, maxOutputBytes, maxTokens, maxCost };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

/** A limit that cannot hold must not look as if it did. */
export function reportUnpriced(
  { maxCost }: RunLimits,
  { id, alias = "<alias>", pricing }: Pick<ResolvedModel, "id" | "alias" | "pricing">,
): readonly Diagnostic[] {
  if (maxCost === undefined || pricing !== undefined) return [];
  return [
    {
      code: "model.no-price",
      severity: "warning",
      path: `models.${alias}`,
      message: `The run may cost at most ${maxCost}, but \`${id}\` has no price, so its cost is not limited.`,
      hint: `Set \`input-price\` and \`output-price\` under \`[models.${alias}]\`, or limit tokens.`,
    },
  ];
}

export interface LimitReached {
  readonly limit: RunLimit;
  /** What was used and what is allowed. */
  readonly message: string;
}

/** The most that a timer takes; with more it would go off at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface RunStop {
  /** Ends the model call and every tool of the run. */
  readonly signal: AbortSignal;
  readonly cancelled: boolean;
  /** The limit that was reached, if one was. */
  reached(): LimitReached | undefined;
  /** Text the model wrote. */
  onText(text: string): void;
  /** The clock is stopped; the run has ended. */
  end(): void;
}

export function createStop(limits: RunLimits, budget: Budget, caller: AbortSignal | undefined): RunStop {
  const own = new AbortController();
  let stopped: LimitReached | undefined;
  let bytes = 0;
  const stop = (limit: RunLimit, message: string): void => {
    stopped ??= { limit, message };
    own.abort(new Error(message));
  };
  const timeoutMs = Math.min(limits.timeoutMs, LONGEST_TIMER_MS);
  const timer = setTimeout(() => stop("time", `${timeoutMs} ms are over`), timeoutMs);
  return {
    signal: caller ? AbortSignal.any([caller, own.signal]) : own.signal,
    get cancelled() {
      return stopped === undefined && (caller?.aborted ?? false);
    },
    reached: () => stopped ?? budget.reached(),
    onText(text) {
      bytes += Buffer.byteLength(text);
      if (bytes > limits.maxOutputBytes) {
        stop("output", `the model wrote more than ${limits.maxOutputBytes} bytes`);
      }
    },
    end: () => clearTimeout(timer),
  };
}
