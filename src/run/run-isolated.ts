/**
 * One isolated run, or one turn of a chat: its tools, limits and events, from the assembled prompt to the result.
 * Everything it needs is given (`set-up-run.ts` does that), and nothing of it is shared with another run.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelMessage } from "ai";
import type { OutputFilterMode } from "../config/run-fields.ts";
import type { RunEventBody } from "../events/run-event.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { costOf, type Pricing } from "../model/pricing.ts";
import type { RedactionStream, Redactor } from "../secrets/redaction.ts";
import type { Skill } from "../skill/skill.ts";
import type { Tool, ToolContext, ToolOutput } from "../tools/tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import type { Approvals } from "./approvals.ts";
import type { Budget } from "./budget.ts";
import { createCallSlots } from "./call-slots.ts";
import { callTool, type ToolDesk } from "./call-tool.ts";
import type { CapabilityNotes } from "./capability-notes.ts";
import { describeFault } from "./describe-fault.ts";
import type { Reasoning } from "./effort.ts";
import { guardModel } from "./guard-model.ts";
import type { RunHook } from "./hooks/find-hooks.ts";
import { openHooks } from "./hooks/open-hooks.ts";
import { runToEnd } from "./hooks/run-to-end.ts";
import { listWorkFiles } from "./list-work-files.ts";
import type { LoopInput, LoopOutcome } from "./loop.ts";
import type { RunLimits } from "./run-limits.ts";
import type { RunResult } from "./run-result.ts";
import { createStop, type RunStop } from "./run-stop.ts";
import { createUseNotes } from "./sandbox-use.ts";
import type { SkillPlace } from "./skill-place.ts";

/** What a run is about: a prepared skill, or the user's own conversation. */
export interface RunSubject extends Pick<PreparedInvocation, "source" | "chain" | "trust"> {
  readonly skill: Pick<Skill, "name" | "location">;
}

export interface IsolatedRun
  extends Pick<SkillPlace, "world" | "sandbox" | "network" | "reached" | "declared" | "granted"> {
  readonly runId: string;
  readonly parentRunId?: string;
  readonly prepared: RunSubject;
  readonly model: { readonly model: LanguageModelV4; readonly id: string; readonly pricing?: Pricing };
  readonly system: string;
  /** What was said before it began; nothing in a run of a skill. */
  readonly history?: readonly ModelMessage[];
  readonly message: string;
  readonly tools: readonly Tool[];
  readonly policy: ToolPolicy;
  readonly approvals: Approvals;
  /** Of the skill that runs; a chat has none. */
  readonly skillHooks?: readonly RunHook[];
  readonly outputFilter: OutputFilterMode;
  /** Asked for each call: once an untrusted text is in the conversation, secrets are not delivered any more. */
  env(): Readonly<Record<string, string>>;
  /** What commands ask of the host: those of its skill, and those of scripts it runs. */
  readonly capabilityNotes: CapabilityNotes;
  readonly redactor: Redactor;
  readonly limits: RunLimits;
  readonly reasoning?: Reasoning;
  readonly budget: Budget;
  /** What a replay did not come to: one that ends before its recording does differs from it. */
  missingFromReplay?(): string | undefined;
  readonly signal?: AbortSignal;
  emit(event: RunEventBody): void;
}

export async function runIsolated(run: IsolatedRun): Promise<RunResult> {
  return (await carryOut(run)).result;
}

export interface CarriedOut {
  /** Its diagnostics are those that came up on the way. */
  readonly result: RunResult;
  /** What it added to the conversation after its message: whole steps only. */
  readonly messages: readonly ModelMessage[];
  /** For a run that failed: what the provider or the stream said. */
  readonly fault?: unknown;
}

export async function carryOut(run: IsolatedRun): Promise<CarriedOut> {
  const startedAt = performance.now();
  const { prepared, model, world } = run;
  run.emit(describeStart(run));
  const stop = createStop(run.limits, run.budget, run.signal);
  const text = createTextSoFar();
  const denied: { readonly tool: string; readonly reason: string }[] = [];
  const diagnostics: Diagnostic[] = [];
  const used = createUseNotes();
  const guarded = guardModel(model.model, {
    redactor: run.redactor,
    emit: (event) => {
      if (event.type === "model-called") text.next();
      run.emit(event);
    },
    onUsage: (usage) => run.budget.add(usage, costOf(usage, model.pricing)),
    onText: (piece) => text.add(piece),
    onOutput: (piece) => stop.onOutput(piece),
  });
  const step = (): number => guarded.steps;
  run.capabilityNotes.listen({
    onCall: (call) => run.emit({ type: "capability-called", step: step(), ...run.redactor.redactJson(call) }),
    onFault(text) {
      const code = "capability.failed";
      const message = run.redactor.redact(text);
      run.emit({ type: "diagnostic", code, message });
      diagnostics.push({ code, severity: "warning", path: prepared.skill.location, message });
    },
  });
  const hooks = openHooks({
    ...run,
    hooks: run.skillHooks ?? [],
    skill: prepared.skill,
    diagnostics,
    step,
    text: () => text.value,
    context: () => toolContext(run, { callId: "", signal: stop.signal }),
  });
  const desk: ToolDesk = {
    ...run,
    slots: createCallSlots(),
    ...(hooks && { hooks: hooks.around }),
    step,
    context: (call) => toolContext(run, call),
    onDenied: (call) => void denied.push(call),
    onCleaned: createCleaningReport(run, diagnostics),
    onDone: (tool, input) => used.note(tool, input, run.world),
  };
  const pending = new Set<Promise<ToolOutput>>();
  const loop: LoopInput = {
    model: guarded,
    system: run.system,
    messages: [...(run.history ?? []), { role: "user", content: run.message }],
    tools: run.tools,
    maxIterations: run.limits.maxIterations,
    ...(run.reasoning && { reasoning: run.reasoning }),
    // One answer may not use more than the whole run may.
    ...(run.limits.maxTokens !== undefined && { maxOutputTokens: run.limits.maxTokens }),
    signal: stop.signal,
    reached: () => stop.reached()?.limit,
    call: (tool, input, callId, signal) => {
      const call = callTool({ callId, tool, input, signal }, desk);
      pending.add(call);
      return call.finally(() => pending.delete(call));
    },
    onInvalidCall: (call) => refuseCall(call, run, guarded.steps, denied),
  };
  const outcome = await runToEnd(loop, hooks?.end).finally(() => stop.end());
  await Promise.allSettled(pending); // A tool that was stopped still ends its processes; nothing outlives the run.
  await run.capabilityNotes.end();
  const ending = describeEnding(outcome, stop, run);
  const durationMs = Math.round(performance.now() - startedAt);
  const summary = {
    ...ending,
    text: run.redactor.redact(text.value), // Parts of an answer were redacted one by one.
    iterations: guarded.steps,
    usage: run.budget.usage,
    durationMs,
  };
  const sandbox: RunResult["sandbox"] = {
    backend: run.sandbox?.backend ?? "absent",
    declared: run.declared,
    granted: run.granted,
    used: run.redactor.redactJson(used.list(run.reached)),
  };
  const capabilities = run.redactor.redactJson(run.capabilityNotes.list());
  const called = capabilities.length > 0 && { capabilities };
  run.emit({ type: "run-finished", ...summary, sandbox, ...called });
  const left = listWorkFiles(world.workDir);
  const result: RunResult = {
    runId: run.runId,
    skill: prepared.skill.name,
    isolated: true,
    trust: prepared.trust.level,
    model: model.id,
    ...summary,
    denied: run.redactor.redactJson(denied),
    files: left.files,
    sandbox,
    ...called,
    diagnostics: [...diagnostics, ...used.diagnostics(prepared.skill.location), ...left.diagnostics],
  };
  return { result, messages: outcome.messages, fault: outcome.error };
}

function describeStart(run: IsolatedRun): RunEventBody {
  const { prepared, world, model, tools } = run;
  return {
    type: "run-started",
    skill: prepared.skill.name,
    source: prepared.source,
    location: prepared.skill.location,
    trust: prepared.trust.level,
    model: model.id,
    depth: prepared.chain.length,
    ...(run.parentRunId !== undefined && { parentRunId: run.parentRunId }),
    tools: tools.map(({ name }) => name),
    workDir: world.workDir,
    ...(world.skillDir !== undefined && { skillDir: world.skillDir }),
    cwd: world.cwd,
    env: Object.keys(run.env()).sort(),
  };
}

function toolContext(
  run: IsolatedRun,
  { callId, signal }: { readonly callId: string; readonly signal: AbortSignal },
): ToolContext {
  const { world, network, sandbox } = run;
  const redactStream = (): RedactionStream => run.redactor.stream();
  return { callId, world, network, signal, redactStream, env: run.env(), ...(sandbox && { sandbox }) };
}

type Ending = Pick<RunResult, "status" | "limit" | "error">;

function describeEnding(outcome: LoopOutcome, stop: RunStop, run: IsolatedRun): Ending {
  const reached = stop.reached();
  if (outcome.ended === "answered") {
    const message = run.missingFromReplay?.();
    if (message === undefined) return { status: "completed" };
    return { status: "failed", error: { code: "replay.diverged", message: run.redactor.redact(message) } };
  }
  if (stop.cancelled) return { status: "cancelled" };
  const limit = outcome.limit ?? reached?.limit;
  if (outcome.ended !== "failed" || reached) {
    const used =
      limit === "tokens"
        ? "the model's answer was cut at the most tokens it may have"
        : `${outcome.iterations} of ${run.limits.maxIterations} steps are used`;
    const message = reached?.message ?? used;
    run.emit({ type: "limit-reached", limit: limit ?? "iterations", message });
    return { status: "limited", limit: limit ?? "iterations" };
  }
  const { code, message } = describeFault(outcome.error);
  return { status: "failed", error: { code, message: run.redactor.redact(message) } };
}

/** A name that is no tool, or input that is no JSON: the SDK has answered the model already; here it is recorded. */
function refuseCall(
  call: { readonly callId: string; readonly tool: string; readonly input: unknown; readonly reason: string },
  run: IsolatedRun,
  step: number,
  denied: { readonly tool: string; readonly reason: string }[],
): void {
  const { callId, tool } = call;
  const text = run.redactor.redact(call.reason);
  const isUnknown = !run.tools.some(({ name }) => name === tool);
  const rule = isUnknown ? "the run has no such tool" : "the input is no JSON that fits the tool";
  if (isUnknown) denied.push({ tool, reason: rule });
  const input = run.redactor.redactJson(JSON.stringify(call.input) ?? "");
  run.emit({ type: "tool-called", step, callId, tool, input, decision: "deny", rule });
  run.emit({ type: "tool-finished", step, callId, tool, text, isError: true, durationMs: 0 });
}

/** Said once for each tool, however often it happens. */
function createCleaningReport(
  { prepared, emit }: IsolatedRun,
  diagnostics: Diagnostic[],
): ToolDesk["onCleaned"] {
  const code = "disclosure.text-removed";
  const said = new Set<string>();
  return ({ name }, { count, example }) => {
    if (said.has(name)) return;
    said.add(name);
    const message = `Characters that cannot be seen were removed from an answer of \`${name}\`: ${count}, ${example} first.`;
    emit({ type: "diagnostic", code, message });
    diagnostics.push({ code, severity: "warning", path: prepared.skill.location, message });
  };
}

/** The text of the last step that wrote any: what a person would call the answer so far. */
function createTextSoFar(): { readonly value: string; next(): void; add(text: string): void } {
  let last = "";
  let current = "";
  return {
    get value() {
      return current || last;
    },
    next() {
      last = current || last;
      current = "";
    },
    add(text) {
      current += text;
    },
  };
}
