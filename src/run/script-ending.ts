/** How a script ended, as the status of a run has it, with what to do where it did not end well. */
import type { RunStatus } from "../events/run-event.ts";
import type { CommandOutcome, Sandbox } from "../sandbox/sandbox.ts";
import { findMissingProgram } from "../tools/missing-program.ts";
import type { ScriptResult } from "./script-result.ts";

export const MORE_TIME = "`skills.script-timeout-ms` in your config, or `--timeout`, gives it more time.";

export type ScriptEnding = Pick<ScriptResult, "status" | "error">;

export interface EndingContext {
  readonly script: string;
  readonly timeoutMs: number;
  readonly sandbox: Sandbox;
  explainMissing(program: string): string;
}

export function describeEnding(
  outcome: CommandOutcome,
  { script, timeoutMs, sandbox, explainMissing }: EndingContext,
): ScriptEnding {
  const { ended, exitCode, signal, reason } = outcome;
  const missing = findMissingProgram(outcome, sandbox);
  if (missing !== undefined) return fail("program.missing", explainMissing(missing));
  switch (ended) {
    case "exited":
      if (exitCode === 0) return { status: "completed" };
      return fail("script.failed", `\`${script}\` ended with exit code ${exitCode}.`);
    case "signalled":
      return fail("script.failed", `\`${script}\` was ended by ${signal}.`);
    case "timeout":
      return stop(script, `it took longer than ${timeoutMs} ms. ${MORE_TIME}`);
    case "limit":
      return stop(script, String(reason));
    case "cancelled":
      return { status: "cancelled" };
    case "refused":
      return fail("script.failed", `\`${script}\` was not run. ${reason}`);
  }
}

function fail(code: string, message: string, status: RunStatus = "failed"): ScriptEnding {
  return { status, error: { code, message } };
}

function stop(script: string, why: string): ScriptEnding {
  const message = `\`${script}\` was stopped, with everything it had started: ${why}`;
  return fail("script.stopped", message, "limited");
}
