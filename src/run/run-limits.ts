/** The limits of one run, and the switch that stops it: by the caller, by the clock, or by what it wrote. */
import type { Config } from "../config/config.ts";
import type { RunLimit } from "../events/run-event.ts";
import type { Budget } from "./budget.ts";

export interface RunLimits {
  readonly maxIterations: number;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
}

/** What the config lets one run use. */
export function configuredLimits({ runs }: Pick<Config, "runs">): RunLimits {
  return {
    maxIterations: runs.maxIterations,
    timeoutMs: runs.timeoutSeconds * 1000,
    maxOutputBytes: runs.maxOutputBytes,
    ...(runs.maxTokens !== undefined && { maxTokens: runs.maxTokens }),
    ...(runs.maxCost !== undefined && { maxCost: runs.maxCost }),
  };
}

export interface LimitReached {
  readonly limit: RunLimit;
  /** What was used and what is allowed. */
  readonly message: string;
}

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
  const timer = setTimeout(() => stop("time", `${limits.timeoutMs} ms are over`), limits.timeoutMs);
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
