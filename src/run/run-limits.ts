/** The limits of one run: by whom they are set, and who may not exceed them. */
import type { Config, RunsConfig } from "../config/config.ts";
import { UsageError } from "../foundation/errors.ts";

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
