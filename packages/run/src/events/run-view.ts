/**
 * A run as shown to people, built only from its events: the live view, `runs show` and a replay show the same. Pure:
 * each event returns a new view.
 */
import type { LogLevel } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import type {
  CapabilityCall,
  CapabilityUse,
  HookOutcome,
  RunEvent,
  RunLimit,
  RunStatus,
  SandboxReport,
  TokenUsage,
} from "./run-event.ts";

export type RunState = RunStatus | "unfinished";

export interface ToolCallView {
  readonly callId: string;
  readonly tool: string;
  readonly input: Json;
  readonly state: "running" | "done" | "failed" | "denied";
  /** The rule that allowed or denied it. */
  readonly rule: string;
  readonly text?: string;
  readonly durationMs?: number;
  /** The tool's notes about the call; absent: none. */
  readonly notes?: readonly { readonly level: LogLevel; readonly message: string }[];
}

export interface HookView {
  readonly hook: string;
  /** Absent at the end of a run. */
  readonly tool?: string | undefined;
  readonly callId?: string | undefined;
  readonly outcome: HookOutcome;
  readonly reason?: string | undefined;
  readonly durationMs: number;
}

export interface StepView {
  readonly step: number;
  /** The model's text so far. */
  readonly text: string;
  readonly calls: readonly ToolCallView[];
  /** Absent if none ran. */
  readonly hooks?: readonly HookView[] | undefined;
  /** Absent if none was called. */
  readonly capabilities?: readonly CapabilityCall[] | undefined;
  readonly retries: readonly {
    readonly attempt: number;
    readonly delayMs: number;
    readonly reason: string;
  }[];
  readonly finishReason?: string | undefined;
  readonly usage?: TokenUsage | undefined;
  readonly cost?: number | undefined;
  readonly durationMs?: number | undefined;
}

export interface RunView {
  readonly runId: string;
  readonly skill: string;
  readonly state: RunState;
  readonly startedAt: string;
  readonly source?: string | undefined;
  readonly location?: string | undefined;
  readonly trust?: string | undefined;
  readonly model?: string | undefined;
  readonly parentRunId?: string | undefined;
  /** Of the caller. */
  readonly userId?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly cwd?: string | undefined;
  readonly workDir?: string | undefined;
  readonly tools: readonly string[];
  /** Names only. */
  readonly env: readonly string[];
  readonly steps: readonly StepView[];
  readonly children: readonly { readonly runId: string; readonly skill: string }[];
  readonly diagnostics: readonly { readonly code: string; readonly message: string }[];
  /** The answer, once there is one. */
  readonly text: string;
  readonly iterations: number;
  readonly usage: TokenUsage;
  /** Absent: no price is known. */
  readonly cost?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly limit?: { readonly limit: RunLimit; readonly message: string } | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly sandbox?: SandboxReport | undefined;
  /** All that were called, counted; absent: none. */
  readonly capabilities?: readonly CapabilityUse[] | undefined;
}

export const EMPTY_RUN_VIEW: RunView = {
  runId: "",
  skill: "",
  state: "unfinished",
  startedAt: "",
  tools: [],
  env: [],
  steps: [],
  children: [],
  diagnostics: [],
  text: "",
  iterations: 0,
  usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
};

export function viewRun(events: readonly RunEvent[]): RunView {
  return events.reduce(addToView, EMPTY_RUN_VIEW);
}

export function addToView(view: RunView, event: RunEvent): RunView {
  switch (event.type) {
    case "run-started":
      return startView(view, event);
    case "model-called":
      return {
        ...changeStep(view, event.step, (step) => step),
        iterations: Math.max(view.iterations, event.step),
      };
    case "text-delta":
      return changeStep(view, event.step, (step) => ({ ...step, text: step.text + event.text }));
    case "model-answered":
      return answer(view, event);
    case "model-retried": {
      const { attempt, delayMs, reason } = event;
      return changeStep(view, event.step, (step) => ({
        ...step,
        text: "", // What came before the failure is requested again.
        retries: [...step.retries, { attempt, delayMs, reason }],
      }));
    }
    case "tool-called":
      return callTool(view, event);
    case "run-resumed":
    case "approval-asked":
    case "approval-answered":
      return view; // A later event reports the outcome.
    case "tool-finished":
      return finishTool(view, event);
    case "tool-logged":
      return addNote(view, event);
    case "hook-finished":
      return addHook(view, event);
    case "capability-called":
      return addCapability(view, event);
    case "child-started":
      return { ...view, children: [...view.children, { runId: event.childRunId, skill: event.skill }] };
    case "diagnostic":
      return { ...view, diagnostics: [...view.diagnostics, { code: event.code, message: event.message }] };
    case "limit-reached":
      return { ...view, limit: { limit: event.limit, message: event.message } };
    case "run-finished":
      return finishView(view, event);
  }
}

type Of<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

function startView(view: RunView, event: Of<"run-started">): RunView {
  const { runId, at, skill, source, location, trust, model, parentRunId, cwd, workDir, tools, env } = event;
  const { userId, tenantId } = event;
  const told = {
    skill,
    source,
    location,
    trust,
    model,
    cwd,
    workDir,
    tools,
    env,
    parentRunId,
    userId,
    tenantId,
  };
  return { ...view, runId, startedAt: at, ...told };
}

function answer(view: RunView, event: Of<"model-answered">): RunView {
  const { parts, finishReason, usage, cost, durationMs } = event;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const answered = changeStep(view, event.step, (step) => ({
    ...step,
    text,
    finishReason,
    usage,
    cost,
    durationMs,
  }));
  const total = cost === undefined ? view.cost : (view.cost ?? 0) + cost;
  return { ...answered, usage: addUsage(view.usage, usage), cost: total, text: text || view.text };
}

function callTool(view: RunView, { step, callId, tool, input, decision, rule }: Of<"tool-called">): RunView {
  const call: ToolCallView = { callId, tool, input, rule, state: decision === "deny" ? "denied" : "running" };
  // A durable run that continues repeats the interrupted call.
  const isCutOff = (other: ToolCallView): boolean => other.callId === callId && other.state === "running";
  return changeStep(view, step, (current) => ({
    ...current,
    calls: [...current.calls.filter((other) => !isCutOff(other)), call],
  }));
}

function finishTool(
  view: RunView,
  { step, callId, text, isError, durationMs }: Of<"tool-finished">,
): RunView {
  return changeStep(view, step, (current) => ({
    ...current,
    calls: current.calls.map((call) => {
      if (call.callId !== callId) return call;
      const ended = isError ? "failed" : "done";
      return { ...call, text, durationMs, state: call.state === "denied" ? "denied" : ended };
    }),
  }));
}

function addNote(view: RunView, { step, callId, level, message }: Of<"tool-logged">): RunView {
  return changeStep(view, step, (current) => ({
    ...current,
    calls: current.calls.map((call) =>
      call.callId === callId ? { ...call, notes: [...(call.notes ?? []), { level, message }] } : call,
    ),
  }));
}

function addHook(view: RunView, event: Of<"hook-finished">): RunView {
  const { step, hook, tool, callId, outcome, reason, durationMs } = event;
  const asked: HookView = { hook, tool, callId, outcome, reason, durationMs };
  return changeStep(view, step, (current) => ({ ...current, hooks: [...(current.hooks ?? []), asked] }));
}

function addCapability(view: RunView, event: Of<"capability-called">): RunView {
  const { v, runId, seq, at, type, step, ...call } = event;
  return changeStep(view, step, (current) => ({
    ...current,
    capabilities: [...(current.capabilities ?? []), call],
  }));
}

function finishView(view: RunView, event: Of<"run-finished">): RunView {
  const { runId, status, text, iterations, usage, durationMs, limit, error, sandbox, capabilities } = event;
  const ended = { runId, state: status, text, iterations, usage, cost: event.cost ?? view.cost, durationMs };
  return {
    ...view,
    ...ended,
    limit: limit ? { limit, message: view.limit?.message ?? "" } : view.limit,
    error: error ?? view.error,
    sandbox: sandbox ?? view.sandbox,
    capabilities: capabilities ?? view.capabilities,
  };
}

/** Creates the step if it doesn't exist yet. */
function changeStep(view: RunView, number: number, change: (step: StepView) => StepView): RunView {
  const index = view.steps.findLastIndex(({ step }) => step === number);
  const step = view.steps[index] ?? { step: number, text: "", calls: [], retries: [] };
  const steps = index === -1 ? [...view.steps, change(step)] : view.steps.with(index, change(step));
  return { ...view, steps };
}

function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
  };
}
