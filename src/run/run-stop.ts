/** The switch that stops a run: by the caller, by the clock, by what it spent or by what it wrote. */
import type { RunLimit } from "../events/run-event.ts";
import type { Budget } from "./budget.ts";
import type { RunLimits } from "./run-limits.ts";

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
  /** What the model wrote: text, reasoning, input of tools. */
  onOutput(text: string): void;
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
    onOutput(text) {
      bytes += Buffer.byteLength(text);
      if (bytes > limits.maxOutputBytes) {
        stop("output", `the model wrote more than ${limits.maxOutputBytes} bytes`);
      }
    },
    end: () => clearTimeout(timer),
  };
}
