/**
 * From a request to its outcome: a skill that runs inline is answered with its text, one that runs in isolation with its
 * result, one that is refused with the reason. Nothing that happens in a run is thrown.
 */
import type { SkillResource } from "../disclose/list-resources.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import { createRunId } from "../events/run-id.ts";
import type { AskedExecution } from "../invoke/choose-execution.ts";
import { activateInline } from "../invoke/inline.ts";
import type { Invocation, PreparedInvocation, PrepareOutcome } from "../invoke/invocation.ts";
import { checkProgramTools } from "../tools/check-program-tools.ts";
import { createMemory } from "./conversation-memory.ts";
import { failedResult, refusedResult } from "./ended-early.ts";
import { hideRestricted } from "./hide-restricted.ts";
import type { InvokeOutcome } from "./invoke-outcome.ts";
import { outlineRun } from "./outline-run.ts";
import type { PrepareOptions, RunHost } from "./run-host.ts";
import type { RunOutline } from "./run-outline.ts";
import type { RunParent } from "./run-parent.ts";
import { planOnly, runPrepared } from "./run-prepared.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";
import { offeredTools, programTools } from "./run-tools.ts";

export interface InvokeOptions {
  readonly asked?: AskedExecution;
  /** The run or the conversation it is asked for in. */
  readonly parent?: RunParent;
  /** Default: a new one. */
  readonly runId?: string;
  /** `false`: a skill that needs a run of its own is refused. Default: it is run. */
  readonly canRun?: boolean;
}

export async function invokeSkill(
  request: RunRequest,
  given: RunHost,
  { asked, parent, runId = createRunId(), canRun = true }: InvokeOptions = {},
): Promise<InvokeOutcome> {
  const host = hideRestricted(given, request.caller);
  const outcome = await prepareRequest(request, host, {
    canRun,
    ...(asked && { asked }),
    ...(parent && { parent }),
  });
  if (!outcome.ok) return { kind: "refused", refusal: outcome.refusal };
  const { prepared } = outcome;
  if (prepared.execution === "isolated") {
    const result = await runPrepared({ prepared, request, host, runId, ...(parent && { parent }) });
    return { kind: "run", result };
  }
  const { text } = activateInline(prepared, parent?.memory ?? createMemory(), filesOf(prepared, host));
  return { kind: "inline", text, prepared };
}

export async function prepareRequest(
  request: RunRequest,
  host: RunHost,
  {
    asked,
    parent,
    isDry = false,
    canRun = true,
  }: Pick<InvokeOptions, "asked" | "parent"> & Pick<PrepareOptions, "isDry" | "canRun"> = {},
): Promise<PrepareOutcome> {
  checkProgramTools(programTools(host, request));
  return host.prepare(toInvocation(request, parent), {
    tools: (subject) => offeredTools(subject, host, request, parent),
    isDry,
    canRun,
    ...(asked && { asked }),
    ...(parent && { conversation: parent.memory.trust }),
    ...(request.env && { env: request.env }),
    ...(request.privateFiles && { privateFiles: request.privateFiles }),
    ...(request.signal && { signal: request.signal }),
  });
}

/** What `runSkill` would do. */
export async function planRun(
  request: RunRequest,
  given: RunHost,
  runId: string,
): Promise<
  { readonly ok: true; readonly outline: RunOutline } | { readonly ok: false; readonly result: RunResult }
> {
  const host = hideRestricted(given, request.caller);
  const outcome = await prepareRequest(request, host, { asked: "isolated", isDry: true });
  if (!outcome.ok) return { ok: false, result: refusedResult(runId, outcome.refusal) };
  const { prepared } = outcome;
  const planned = await planOnly({ prepared, request, host, runId });
  if (planned.ok) return { ok: true, outline: outlineRun(planned.plan) };
  if ("refusal" in planned) return { ok: false, result: refusedResult(runId, planned.refusal) };
  return { ok: false, result: failedResult(runId, prepared, planned.fault) };
}

/** Always isolated, as `metier run` does it; a refusal is a result too. */
export async function runSkill(request: RunRequest, host: RunHost, runId: string): Promise<RunResult> {
  const outcome = await invokeSkill(request, host, { asked: "isolated", runId });
  if (outcome.kind === "refused") return refusedResult(runId, outcome.refusal);
  if (outcome.kind === "run") return outcome.result;
  throw new Error("A run was asked for, and inline text was prepared.");
}

function toInvocation(request: RunRequest, parent?: RunParent): Invocation {
  const { skill, message, context, arguments: line, input, source = "code", caller = {} } = request;
  return {
    skill,
    source,
    caller,
    ...(message !== undefined && { message }),
    ...(context !== undefined && { context }),
    ...(line !== undefined && { arguments: line }),
    ...(input !== undefined && { input }),
    ...(parent && { chain: parent.chain, callerTrust: parent.trust }),
  };
}

/** What a text names beside itself. */
export function filesOf({ skill }: PreparedInvocation, { library }: RunHost): readonly SkillResource[] {
  return hasFolder(skill) ? library.listResources(skill.name).resources : [];
}
