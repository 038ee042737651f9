/**
 * From a request to its outcome: the text of an inline skill, the result of an isolated run, or the reason for a
 * refusal. Nothing that happens in a run is thrown.
 */
import type { Json } from "@metier/base/json";
import { hasFolder, type SkillResource } from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";
import type { DurableRunParts } from "../durable/durable-run.ts";
import { createRunId } from "../events/run-log.ts";
import { activateInline, createMemory } from "../invoke/conversation-trust.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { type Tool, toolId } from "../tools/tool.ts";
import { abandonRun, carryOut, setUpRun } from "./carry-out.ts";
import { decideSkillRun } from "./decide-skill-run.ts";
import { giveRun, type RunContext, type RunParent } from "./run-context.ts";
import { hideRestricted, keepingOf, type RunHost, type RunRequest } from "./run-request.ts";
import {
  type InvokeOutcome,
  type LeftRun,
  type RunOutline,
  type RunResult,
  refusedResult,
} from "./run-result.ts";
import { type PrepareWish, prepareRequest } from "./run-tools.ts";

interface InvokeOptions extends Omit<PrepareWish, "isDry"> {
  /** Default: a new id. */
  readonly runId?: string | undefined;
  /** Default: durable if the run that starts it is. */
  readonly durable?: DurableRunParts | undefined;
}

export type InvokeSkill = (
  request: RunRequest,
  host: RunHost,
  options?: InvokeOptions,
) => Promise<InvokeOutcome | LeftRun>;

/** For a request that isn't durable. */
export async function invokeSkill(
  request: RunRequest,
  host: RunHost,
  options: Omit<InvokeOptions, "durable"> = {},
): Promise<InvokeOutcome> {
  const outcome = await invokeAnywhere(request, host, options);
  if (outcome.kind === "left") throw new Error("Only a durable run leaves its process.");
  return outcome;
}

/** A durable run may leave this process before it ends. */
export async function invokeAnywhere(
  request: RunRequest,
  given: RunHost,
  { asked, parent, runId = createRunId(), canRun = true, durable: own }: InvokeOptions = {},
): Promise<InvokeOutcome | LeftRun> {
  const host = hideRestricted(given, request.caller);
  // Only a run can be checked against a schema.
  const wanted = request.output === undefined ? asked : "isolated";
  const outcome = await prepareRequest(request, host, { canRun, asked: wanted, parent });
  if (!outcome.ok) return { kind: "refused", refusal: outcome.refusal };
  const { prepared } = outcome;
  if (prepared.execution === "isolated") {
    if (parent === undefined) keepingOf(host).tidy();
    const durable = own ?? (await parent?.durable?.({ skill: prepared.skill.name, runId }));
    if (durable?.steps.result !== undefined) return repeatResult(durable.steps.result, parent);
    const run = giveRun({ runId, host, request, parent, invoke: invokeAnywhere, durable });
    const { result, left } = await carryOut(run, (start) => decideSkillRun(prepared, start));
    if (left !== undefined) return { kind: "left", why: left };
    await durable?.steps.end(result);
    return { kind: "run", result };
  }
  const { text } = activateInline(prepared, parent?.memory ?? createMemory(), filesOf(prepared, host));
  return { kind: "inline", text, prepared };
}

/** For a run that ended in another process: its usage counts for whoever started it. */
function repeatResult(stored: Json, parent: RunParent | undefined): InvokeOutcome {
  const result = stored as unknown as RunResult;
  parent?.budget.add(result.usage, result.cost);
  return { kind: "run", result };
}

/** The outcome of a request for a run. */
export function resultOf(outcome: InvokeOutcome, runId: string): RunResult {
  if (outcome.kind === "refused") return refusedResult(runId, outcome.refusal);
  if (outcome.kind === "run") return outcome.result;
  throw new Error("A run was requested, but inline text was prepared.");
}

/** What a run would be, without running: the folder created for it is removed again. */
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
  const run = giveRun({ runId, host, request, invoke: invokeAnywhere, isDry: true });
  const planned = await setUpRun(run, (start) => decideSkillRun(prepared, start));
  if (!planned.ok) return { ok: false, result: planned.refusal };
  const outline = await outlineRun(prepared, planned.value);
  await abandonRun(run);
  return { ok: true, outline };
}

/** The files a text refers to. */
export function filesOf({ skill }: PreparedInvocation, { library }: RunHost): readonly SkillResource[] {
  return hasFolder(skill) ? library.listResources(skill.name).resources : [];
}

/** Turns a run's context into what can be shown of it. */
async function outlineRun({ skill, trust, env }: PreparedInvocation, run: RunContext): Promise<RunOutline> {
  const { place, redactor } = run;
  const { sandbox, declared, granted, network, world } = place;
  return {
    skill: skill.name,
    location: skill.location,
    trust: trust.level,
    trustReason: trust.reason,
    model: run.model.id,
    tools: run.tools.map(({ name }) => name),
    toolRules: await Promise.all(run.tools.map((tool) => outlineTool(tool, run))),
    toolsets: trustAllows(trust.level, "load-toolsets") ? skill.manifest.toolsets : [],
    hooks: run.hooks.map((hook) => ({
      hook: hook.event,
      tools: hook.tools,
      ...("command" in hook && { command: hook.command }),
    })),
    env: Object.keys(env).sort(),
    capabilities: skill.manifest.capabilities,
    sandbox: { backend: sandbox?.backend ?? "absent", declared, granted, network, world },
    limits: run.limits,
    system: redactor.redact(run.system),
    message: redactor.redact(run.message),
    diagnostics: run.diagnostics([]),
  };
}

/** A literal command that no pattern names. */
const ANY_COMMAND = "any-other-command";

async function outlineTool(tool: Tool, { policy }: RunContext): Promise<RunOutline["toolRules"][number]> {
  const input = tool.name === "bash" ? { command: ANY_COMMAND } : {};
  const { answer, rule } = await policy.decide(toolId(tool), tool.effect, input);
  return { name: tool.name, effect: tool.effect, answer, rule };
}
