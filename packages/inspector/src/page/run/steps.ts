/** Turns the events of a run into steps: what the model said and called, which rule decided, and what it cost. Pure. */
import type { Json, JsonObject } from "@metier/base/json";
import type { ApiRunEvent, ApiUsage } from "@metier/service/api";
import { eventText, isObject, numberOf, partsText, readUsage, timeOf } from "./read-event.ts";

export interface StepApproval {
  readonly questionId: string;
  readonly rule: string;
  readonly askedAt: number;
  /** `pending` until it is answered. */
  status: string;
  answeredAt?: number;
  by?: string;
}

export interface StepHook {
  readonly hook: string;
  readonly tool?: string | undefined;
  readonly outcome: string;
  readonly reason?: string | undefined;
  readonly durationMs: number;
}

interface StepCapability {
  readonly name: string;
  readonly account?: string | undefined;
  readonly isMutating: boolean;
  readonly outcome: string;
  readonly durationMs: number;
}

export interface StepCall {
  readonly callId: string;
  readonly tool: string;
  input?: Json;
  /** `allow`, `approved`, `deny`; absent if not decided yet. */
  decision?: string;
  rule?: string;
  output?: string;
  isError: boolean;
  startedAt: number;
  endedAt?: number;
  durationMs?: number;
  readonly approvals: StepApproval[];
  readonly logs: { readonly level: string; readonly message: string }[];
}

interface StepRetry {
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

export interface RunStep {
  readonly number: number;
  readonly startedAt: number;
  /** The time of its last event. */
  lastAt: number;
  /** What the model was told since the last step; the server may withhold it. */
  message: string;
  text: string;
  isAnswered: boolean;
  finishReason?: string;
  usage?: ApiUsage;
  cost?: number;
  modelMs?: number;
  /** Including all steps before. */
  sum: { readonly tokens: number; readonly cost: number | undefined };
  readonly calls: StepCall[];
  readonly hooks: StepHook[];
  readonly retries: StepRetry[];
  readonly capabilities: StepCapability[];
  readonly children: { readonly id: string; readonly skill: string }[];
  /** Findings and limits that came up in it. */
  readonly remarks: string[];
}

export function buildSteps(events: readonly ApiRunEvent[]): readonly RunStep[] {
  const steps = new Map<number, RunStep>();
  let current: RunStep | undefined;
  for (const event of events) {
    const number = numberOf(event, "step") ?? (BELONGING.has(event.type) ? current?.number : undefined);
    if (number === undefined) continue;
    const step = steps.get(number) ?? beginStep(number, timeOf(event));
    steps.set(number, step);
    current = step;
    step.lastAt = Math.max(step.lastAt, timeOf(event));
    READERS[event.type]?.(step, event);
  }
  const ordered = [...steps.values()].sort((a, b) => a.number - b.number);
  sumUp(ordered);
  return ordered;
}

/** Events without a step number, which belong to the current step. */
const BELONGING: ReadonlySet<string> = new Set(["child-started", "diagnostic", "limit-reached"]);

function beginStep(number: number, startedAt: number): RunStep {
  return {
    number,
    startedAt,
    lastAt: startedAt,
    message: "",
    text: "",
    isAnswered: false,
    sum: { tokens: 0, cost: undefined },
    calls: [],
    hooks: [],
    retries: [],
    capabilities: [],
    children: [],
    remarks: [],
  };
}

type Reader = (step: RunStep, event: ApiRunEvent) => void;

const READERS: Readonly<Record<string, Reader>> = {
  "model-called": (step, event) => {
    step.message = messagesText(event);
  },
  "model-answered": readAnswer,
  "model-retried": (step, event) =>
    void step.retries.push({
      attempt: numberOf(event, "attempt") ?? 0,
      delayMs: numberOf(event, "delayMs") ?? 0,
      reason: eventText(event, "reason") ?? "",
    }),
  "tool-called": (step, event) =>
    void Object.assign(callOf(step, event), {
      input: event.input,
      decision: eventText(event, "decision"),
      rule: eventText(event, "rule"),
      startedAt: timeOf(event),
    }),
  "tool-finished": (step, event) =>
    void Object.assign(callOf(step, event), {
      output: eventText(event, "text") ?? "",
      isError: event.isError === true,
      endedAt: timeOf(event),
      durationMs: numberOf(event, "durationMs"),
    }),
  "tool-logged": (step, event) =>
    void callOf(step, event).logs.push({
      level: eventText(event, "level") ?? "info",
      message: eventText(event, "message") ?? "",
    }),
  "approval-asked": (step, event) => {
    const call = callOf(step, event);
    if (event.input !== undefined) call.input = event.input;
    call.approvals.push({
      questionId: eventText(event, "questionId") ?? "",
      rule: eventText(event, "rule") ?? "",
      askedAt: timeOf(event),
      status: "pending",
    });
  },
  "approval-answered": (step, event) => {
    const { approvals } = callOf(step, event);
    const asked = approvals.find(({ questionId }) => questionId === event.questionId);
    if (asked)
      Object.assign(asked, {
        status: eventText(event, "status") ?? "",
        by: eventText(event, "by"),
        answeredAt: timeOf(event),
      });
  },
  "hook-finished": (step, event) =>
    void step.hooks.push({
      hook: eventText(event, "hook") ?? "",
      tool: eventText(event, "tool"),
      outcome: eventText(event, "outcome") ?? "",
      reason: eventText(event, "reason"),
      durationMs: numberOf(event, "durationMs") ?? 0,
    }),
  "capability-called": (step, event) =>
    void step.capabilities.push({
      name: capabilityName(event),
      account: eventText(event, "account"),
      isMutating: event.mutating === true,
      outcome: eventText(event, "outcome") ?? "",
      durationMs: numberOf(event, "durationMs") ?? 0,
    }),
  "child-started": (step, event) =>
    void step.children.push({
      id: eventText(event, "childRunId") ?? "",
      skill: eventText(event, "skill") ?? "",
    }),
  diagnostic: (step, event) => void step.remarks.push(eventText(event, "message") ?? ""),
  "limit-reached": (step, event) => void step.remarks.push(eventText(event, "message") ?? ""),
};

export function capabilityName(event: JsonObject): string {
  return [eventText(event, "capability"), eventText(event, "operation")].filter(Boolean).join(".");
}

function readAnswer(step: RunStep, event: ApiRunEvent): void {
  const { cost, durationMs } = { cost: numberOf(event, "cost"), durationMs: numberOf(event, "durationMs") };
  Object.assign(step, {
    text: partsText(event.parts),
    isAnswered: true,
    finishReason: eventText(event, "finishReason"),
    usage: readUsage(event),
    cost,
    modelMs: durationMs,
  });
  // Calls are known before they are decided.
  if (!Array.isArray(event.parts)) return;
  for (const part of event.parts) {
    if (!isObject(part) || part.type !== "tool-call") continue;
    const call = callOf(step, { ...event, callId: part.callId ?? "", tool: part.tool ?? "" });
    call.input ??= part.input ?? null;
  }
}

function callOf(step: RunStep, event: ApiRunEvent): StepCall {
  const callId = eventText(event, "callId") ?? "";
  const known = step.calls.find((call) => call.callId === callId);
  if (known) return known;
  const call: StepCall = {
    callId,
    tool: eventText(event, "tool") ?? "",
    isError: false,
    startedAt: timeOf(event),
    approvals: [],
    logs: [],
  };
  step.calls.push(call);
  return call;
}

function messagesText({ messages }: ApiRunEvent): string {
  if (!Array.isArray(messages)) return "";
  return messages
    .flatMap((message) => (isObject(message) && message.role === "user" ? [partsText(message.parts)] : []))
    .filter(Boolean)
    .join("\n\n");
}

function sumUp(steps: readonly RunStep[]): void {
  let tokens = 0;
  let cost: number | undefined;
  for (const step of steps) {
    tokens += step.usage?.totalTokens ?? 0;
    if (step.cost !== undefined) cost = (cost ?? 0) + step.cost;
    step.sum = { tokens, cost };
  }
}

/** What went wrong in a step, in short: shown even if the step is closed. */
export function problemsOf(step: RunStep): readonly string[] {
  return [
    ...step.retries.map(({ attempt, reason }) => `Model called again (attempt ${attempt}): ${reason}`),
    ...step.calls.flatMap(problemsOfCall),
    ...step.hooks
      .filter(({ outcome }) => outcome !== "allow")
      .map(({ hook, outcome, reason = "" }) => `Hook ${hook}: ${outcome} ${reason}`.trimEnd()),
    ...step.capabilities
      .filter(({ outcome }) => outcome !== "ok" && outcome !== "repeat")
      .map(({ name, outcome }) => `${name}: ${outcome}`),
    ...step.remarks,
    ...(step.finishReason === "length" ? ["The answer was cut off at the model's limit."] : []),
  ];
}

function problemsOfCall({ tool, decision, rule = "", isError, output = "" }: StepCall): readonly string[] {
  if (decision === "deny") return [`${tool} denied: ${rule}`];
  return isError ? [`${tool} failed: ${firstLine(output)}`] : [];
}

/** How long a step took, without waiting for people. */
export function workedMs({ startedAt, lastAt, calls }: RunStep): number {
  const waited = calls
    .flatMap(({ approvals }) => approvals)
    .reduce((longest, { askedAt, answeredAt = lastAt }) => Math.max(longest, answeredAt - askedAt), 0);
  return Math.max(0, lastAt - startedAt - waited);
}

const MOST_LINE = 300;

export function firstLine(text: string): string {
  const start = text.trimStart();
  const end = start.indexOf("\n");
  return start.slice(0, Math.min(end === -1 ? start.length : end, MOST_LINE));
}
