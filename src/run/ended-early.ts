/** The results of runs that never came to their first step: refused, over a limit, or without something they need. */
import type { RunLimit } from "../events/run-event.ts";
import type { PreparedInvocation, Refusal } from "../invoke/invocation.ts";
import { NO_USAGE } from "./budget.ts";
import type { RunResult } from "./run-result.ts";

const NOTHING = { network: [], read: [], write: [] } as const;

function emptyResult(runId: string, skill: string): Omit<RunResult, "status"> {
  return {
    runId,
    skill,
    text: "",
    isolated: true,
    trust: "untrusted",
    model: "",
    iterations: 0,
    usage: NO_USAGE,
    durationMs: 0,
    denied: [],
    files: [],
    sandbox: { backend: "absent", declared: NOTHING, granted: NOTHING, used: NOTHING },
    diagnostics: [],
  };
}

export function refusedResult(runId: string, refusal: Refusal): RunResult {
  return { ...emptyResult(runId, refusal.skill), status: "refused", refusal };
}

/** A conversation whose budget was used up before the turn began. */
export function limitedResult(runId: string, skill: string, limit: RunLimit): RunResult {
  return { ...emptyResult(runId, skill), trust: "trusted", status: "limited", limit };
}

export function failedResult(
  runId: string,
  { skill, trust, diagnostics }: PreparedInvocation,
  { code, message, hint }: { readonly code: string; readonly message: string; readonly hint: string },
): RunResult {
  return {
    ...emptyResult(runId, skill.name),
    status: "failed",
    trust: trust.level,
    diagnostics,
    error: { code, message: `${message} ${hint}`.trim() },
  };
}
