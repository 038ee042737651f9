/**
 * A run as people look at it, made from its events alone: the live view, `runs show` and a replay show the same thing.
 * Pure: each event gives a new view.
 */
import type { Json } from "../skill/manifest.ts";
import type {
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
  /** By which rule it was allowed or denied. */
  readonly rule: string;
  readonly text?: string;
  readonly durationMs?: number;
}

export interface HookView {
  readonly hook: string;
  /** Absent at the end of a run. */
  readonly tool?: string;
  readonly callId?: string;
  readonly outcome: HookOutcome;
  readonly reason?: string;
  readonly durationMs: number;
}

export interface CapabilityCallView {
  readonly capability: string;
  readonly operation?: string;
  readonly account?: string;
  readonly mutating: boolean;
  /** `ok`, `repeat`, or the code of the fault. */
  readonly outcome: string;
  readonly requestId: string;
  readonly durationMs: number;
}

export interface StepView {
  readonly step: number;
  /** What the model has written so far. */
  readonly text: string;
  readonly calls: readonly ToolCallView[];
  /** Absent where none was asked. */
  readonly hooks?: readonly HookView[];
  /** Absent where none was called. */
  readonly capabilities?: readonly CapabilityCallView[];
  readonly retries: readonly {
    readonly attempt: number;
    readonly delayMs: number;
    readonly reason: string;
  }[];
  readonly finishReason?: string;
  readonly usage?: TokenUsage;
  readonly durationMs?: number;
}

export interface RunView {
  readonly runId: string;
  readonly skill: string;
  readonly state: RunState;
  readonly startedAt: string;
  readonly source?: string;
  readonly location?: string;
  readonly trust?: string;
  readonly model?: string;
  readonly parentRunId?: string;
  readonly cwd?: string;
  readonly workDir?: string;
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
  readonly durationMs?: number;
  readonly limit?: { readonly limit: RunLimit; readonly message: string };
  readonly error?: { readonly code: string; readonly message: string };
  readonly sandbox?: SandboxReport;
  /** All that were called, counted; absent: none. */
  readonly capabilities?: readonly CapabilityUse[];
}

const NO_USAGE: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

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
  usage: NO_USAGE,
};

export function viewRun(events: Iterable<RunEvent>): RunView {
  let view = EMPTY_RUN_VIEW;
  for (const event of events) view = addToView(view, event);
  return view;
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
        text: "", // What came before the fault is asked for anew.
        retries: [...step.retries, { attempt, delayMs, reason }],
      }));
    }
    case "tool-called":
      return callTool(view, event);
    case "tool-finished":
      return finishTool(view, event);
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
  return {
    ...view,
    runId,
    startedAt: at,
    skill,
    source,
    location,
    trust,
    model,
    cwd,
    workDir,
    tools,
    env,
    ...(parentRunId !== undefined && { parentRunId }),
  };
}

function answer(view: RunView, event: Of<"model-answered">): RunView {
  const { parts, finishReason, usage, durationMs } = event;
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  const answered = changeStep(view, event.step, (step) => ({
    ...step,
    text,
    finishReason,
    usage,
    durationMs,
  }));
  return { ...answered, usage: addUsage(view.usage, usage), text: text || view.text };
}

function callTool(view: RunView, { step, callId, tool, input, decision, rule }: Of<"tool-called">): RunView {
  const call: ToolCallView = { callId, tool, input, rule, state: decision === "deny" ? "denied" : "running" };
  return changeStep(view, step, (current) => ({ ...current, calls: [...current.calls, call] }));
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

function addHook(view: RunView, event: Of<"hook-finished">): RunView {
  const { step, hook, tool, callId, outcome, reason, durationMs } = event;
  const asked: HookView = {
    hook,
    ...(tool !== undefined && { tool }),
    ...(callId !== undefined && { callId }),
    outcome,
    ...(reason !== undefined && { reason }),
    durationMs,
  };
  return changeStep(view, step, (current) => ({ ...current, hooks: [...(current.hooks ?? []), asked] }));
}

function addCapability(view: RunView, event: Of<"capability-called">): RunView {
  const { step, capability, operation, account, mutating, outcome, requestId, durationMs } = event;
  const call: CapabilityCallView = {
    capability,
    ...(operation !== undefined && { operation }),
    ...(account !== undefined && { account }),
    mutating,
    outcome,
    requestId,
    durationMs,
  };
  return changeStep(view, step, (current) => ({
    ...current,
    capabilities: [...(current.capabilities ?? []), call],
  }));
}

function finishView(view: RunView, event: Of<"run-finished">): RunView {
  const { runId, status, text, iterations, usage, durationMs, limit, error, sandbox, capabilities } = event;
  return {
    ...view,
    runId,
    state: status,
    text,
    iterations,
    usage,
    durationMs,
    ...(limit && { limit: { limit, message: view.limit?.message ?? "" } }),
    ...(error && { error }),
    ...(sandbox && { sandbox }),
    ...(capabilities && { capabilities }),
  };
}

/** The step is made when it is not there yet. */
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
