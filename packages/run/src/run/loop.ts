/**
 * The loop: the AI SDK's `ToolLoopAgent` around a run's guarded model, until it answers without a tool call or
 * something stops it.
 */
import type { JSONSchema7, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { sayFault } from "@metier/base/diagnostic";
import { once } from "@metier/base/turns";
import type { ModelMessage, ToolLoopAgent, ToolSet, TypedToolError } from "ai";
import type { RunLimit } from "../events/run-event.ts";
import type { Tool, ToolInput, ToolOutput } from "../tools/tool.ts";
import { callTool } from "./call-tool.ts";
import { leanTool } from "./lean-tools.ts";
import type { LiveRun } from "./live-run.ts";

export interface LoopOutcome {
  readonly ended: "answered" | "limited" | "failed" | "stopped";
  readonly limit?: RunLimit;
  /** For `failed`: the provider's or stream's error. */
  readonly error?: unknown;
  readonly iterations: number;
  /** What the completed steps added; each call in it has its result. */
  readonly messages: readonly ModelMessage[];
}

export const NOTHING_SAID: LoopOutcome = { ended: "answered", iterations: 0, messages: [] };

/** The steps after those already taken; the outcome covers all of them. */
export async function takeSteps(live: LiveRun, before: LoopOutcome): Promise<LoopOutcome> {
  const { context, stop } = live;
  const messages: ModelMessage[] = [...before.messages];
  let { iterations } = before;
  const end = (ending: Pick<LoopOutcome, "ended" | "limit" | "error">): LoopOutcome => ({
    ...ending,
    iterations,
    messages: [...messages],
  });
  const used = stop.reached()?.limit; // Whoever started it may have used up the budget.
  if (used !== undefined) return end({ ended: "limited", limit: used });
  const left = context.limits.maxIterations - before.iterations;
  const agent = await createAgent(live, left, (said) => void messages.push(...said));
  let finishReason = "";
  let calls = 0; // Of the last step: some servers say `stop` although they want tools.
  const { signal } = stop;
  try {
    const said = [...context.history, { role: "user" as const, content: context.message }, ...messages];
    const result = await agent.stream({ messages: said, abortSignal: signal });
    for await (const part of result.stream) {
      if (part.type === "start-step") [iterations, calls] = [iterations + 1, 0];
      if (part.type === "tool-call") calls += 1;
      if (part.type === "tool-error") refuseCall(part, live);
      if (part.type === "finish-step") finishReason = part.finishReason;
      if (part.type === "error") return end({ ended: "failed", error: part.error });
      if (part.type === "abort") return end({ ended: "stopped" });
    }
  } catch (error) {
    return end(signal.aborted ? { ended: "stopped" } : { ended: "failed", error });
  }
  if (calls > 0) return end({ ended: "limited", limit: stop.reached()?.limit ?? "iterations" });
  return end(readFinish(finishReason));
}

/** Cached, because Node resolves a module again at every `import()`. The build bundles only what is named here. */
const loadSdk = once(async () => {
  const { dynamicTool, jsonSchema, ToolLoopAgent } = await import("ai");
  return { dynamicTool, jsonSchema, ToolLoopAgent };
});

/** While the current work waits for something else, such as the first sandbox check: the SDK is large. */
export function loadLoopSoon(): void {
  setImmediate(() => void loadSdk().catch(() => undefined)); // The loop reports the error.
}

async function createAgent(
  live: LiveRun,
  mostSteps: number,
  onStep: (messages: readonly ModelMessage[]) => void,
): Promise<ToolLoopAgent> {
  const { context, stop, model } = live;
  const { limits, reasoning, system } = context;
  const { ToolLoopAgent } = await loadSdk();
  return new ToolLoopAgent({
    model,
    instructions: system,
    tools: await toAgentTools(live),
    stopWhen: [({ steps }) => steps.length >= mostSteps, () => stop.reached() !== undefined],
    maxRetries: 0, // The model itself retries and reports it (`packages/run/src/model/retry.ts`).
    telemetry: { isEnabled: false }, // The run's own events are the record.
    include: { requestBody: false, responseBody: false },
    onStepEnd: ({ response }) => onStep(response.messages),
    onError: () => undefined, // The stream's `error` part reports it; without this, the SDK prints to the console.
    // One answer may not use more than the whole run.
    ...(limits.maxTokens !== undefined && { maxOutputTokens: limits.maxTokens }),
    ...(reasoning && { reasoning }),
  });
}

/** What the provider's finish reason of the last answer means. */
function readFinish(reason: string): Pick<LoopOutcome, "ended" | "limit" | "error"> {
  if (reason === "length") return { ended: "limited", limit: "tokens" };
  const fault = CUT_SHORT[reason];
  return fault === undefined ? { ended: "answered" } : { ended: "failed", error: new Error(fault) };
}

const CUT_SHORT: Readonly<Record<string, string>> = {
  "content-filter": "the provider withheld the answer (`content-filter`)",
  error: "the provider ended the answer with an error (`error`)",
};

async function toAgentTools(live: LiveRun): Promise<ToolSet> {
  const { dynamicTool, jsonSchema } = await loadSdk();
  const tell = live.context.model.lean ? leanTool : (tool: Tool) => tool;
  const toAgentTool = (tool: Tool): ToolSet[string] => {
    const { description, inputSchema } = tell(tool);
    return dynamicTool({
      description,
      inputSchema: jsonSchema(inputSchema as JSONSchema7),
      execute: (input, { toolCallId: callId, abortSignal: signal = live.stop.signal }) =>
        callTool({ callId, tool, input: input as ToolInput, signal }, live),
      toModelOutput: ({ output }) => {
        const { text, isError } = output as ToolOutput;
        return { type: isError ? "error-text" : "text", value: text };
      },
    });
  };
  return Object.fromEntries(live.context.tools.map((tool) => [tool.name, toAgentTool(tool)]));
}

/** An unknown tool name, or input that isn't JSON: the SDK has already answered the model; here it is recorded. */
function refuseCall(
  { toolCallId: callId, toolName: tool, input: given, error }: TypedToolError<ToolSet>,
  { context, model, denied }: LiveRun,
): void {
  const { recorder, redactor, tools } = context;
  const step = model.steps;
  const reason = sayFault(error).replace(/^AI_\w+: /, "");
  const isUnknown = !tools.some(({ name }) => name === tool);
  const rule = isUnknown
    ? "the run has no such tool"
    : "the input is not JSON that matches the tool's schema";
  if (isUnknown) denied.push({ tool, reason: rule });
  const input = redactor.redactJson(JSON.stringify(given) ?? "");
  const text = redactor.redact(reason);
  recorder.emit({ type: "tool-called", step, callId, tool, input, decision: "deny", rule });
  recorder.emit({ type: "tool-finished", step, callId, tool, text, isError: true, durationMs: 0 });
}

export type Reasoning = NonNullable<LanguageModelV4CallOptions["reasoning"]>;

const EFFORTS: readonly Reasoning[] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** A skill's `effort` in the AI SDK's terms; any other value leaves it to the provider. */
export function readEffort(effort: string | undefined): Reasoning | undefined {
  const word = effort?.trim().toLowerCase();
  return EFFORTS.find((known) => known === word);
}
