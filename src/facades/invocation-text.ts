/** What became of an invocation, for callers that expect a text or an exception: refusals and failed runs are thrown. */
import { type InvocationSource, type SkillError, SkillInvocationError } from "../foundation/errors.ts";
import { refusalError } from "../invoke/refusal-error.ts";
import type { InvokeOutcome } from "../run/invoke-outcome.ts";
import type { RunResult } from "../run/run-result.ts";

/** The instructions with arguments put in, or the answer of a skill that was run. */
export function textOf(outcome: InvokeOutcome, source: InvocationSource): string {
  switch (outcome.kind) {
    case "inline":
      return outcome.prepared.instructions;
    case "refused":
      throw refusalError(outcome.refusal, source);
    case "run":
      if (outcome.result.status !== "completed") throw runError(outcome.result, source);
      return outcome.result.text;
  }
}

function runError(result: RunResult, source: InvocationSource): SkillError {
  return new SkillInvocationError(result.skill, source, describeEnding(result), { cause: result });
}

/** Why a run did not complete, in one sentence. */
export function describeEnding({ status, error, limit, refusal }: RunResult): string {
  if (refusal) return refusal.message;
  if (error) return error.message;
  if (limit) return `The run was stopped: the limit of ${limit} was reached.`;
  return status === "cancelled" ? "The run was cancelled." : `The run ended as ${status}.`;
}
