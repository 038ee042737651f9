/**
 * The loop: the AI SDK's `ToolLoopAgent` around one guarded model, until it answers without a tool call or something
 * stops it. Knows nothing of skills; a run and a chat turn are both made of it.
 */
import type { JSONSchema7, LanguageModelV4 } from "@ai-sdk/provider";
import type { ModelMessage, ToolSet } from "ai";
import type { RunLimit } from "../events/run-event.ts";
import type { Tool, ToolInput, ToolOutput } from "../tools/tool.ts";
import type { Reasoning } from "./effort.ts";

export interface LoopInput {
  readonly model: LanguageModelV4;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly Tool[];
  readonly maxIterations: number;
  /** Cancels the model call and every tool. */
  readonly signal: AbortSignal;
  readonly maxOutputTokens?: number;
  /** How much the model thinks. */
  readonly reasoning?: Reasoning;
  /** Asked before the first step and after each: what stops the loop, if anything does. */
  reached(): RunLimit | undefined;
  call(tool: Tool, input: ToolInput, callId: string, signal: AbortSignal): Promise<ToolOutput>;
  /** A call that reached no tool: an unknown name, or input that is no JSON. */
  onInvalidCall(call: {
    readonly callId: string;
    readonly tool: string;
    readonly input: unknown;
    readonly reason: string;
  }): void;
}

export interface LoopOutcome {
  readonly ended: "answered" | "limited" | "failed" | "stopped";
  readonly limit?: RunLimit;
  /** For `failed`: what the provider or the stream said. */
  readonly error?: unknown;
  readonly iterations: number;
  /** What the steps that came to their end added; each call in it has its result. */
  readonly messages: readonly ModelMessage[];
}

export async function runLoop(input: LoopInput): Promise<LoopOutcome> {
  const limit = input.reached(); // Whoever started it may have spent everything.
  return limit === undefined ? takeSteps(input) : { ended: "limited", limit, iterations: 0, messages: [] };
}

async function takeSteps(input: LoopInput): Promise<LoopOutcome> {
  const { ToolLoopAgent } = await import("ai");
  const messages: ModelMessage[] = [];
  const agent = new ToolLoopAgent({
    model: input.model,
    instructions: input.system,
    tools: await toAgentTools(input),
    stopWhen: [({ steps }) => steps.length >= input.maxIterations, () => input.reached() !== undefined],
    maxRetries: 0, // The model retries by itself, and says so (`src/model/retry.ts`).
    telemetry: { isEnabled: false }, // The run's own events are the record.
    include: { requestBody: false, responseBody: false },
    onStepEnd: ({ response }) => void messages.push(...response.messages),
    onError: () => undefined, // The stream's `error` part says it; without this the SDK prints to the console.
    ...(input.maxOutputTokens !== undefined && { maxOutputTokens: input.maxOutputTokens }),
    ...(input.reasoning && { reasoning: input.reasoning }),
  });
  let iterations = 0;
  let finishReason = "";
  let calls = 0; // Of the last step: some servers say `stop` although they want tools.
  const end = (ending: Pick<LoopOutcome, "ended" | "limit" | "error">): LoopOutcome => ({
    ...ending,
    iterations,
    messages: [...messages],
  });
  try {
    const result = await agent.stream({ messages: [...input.messages], abortSignal: input.signal });
    for await (const part of result.stream) {
      if (part.type === "start-step") [iterations, calls] = [iterations + 1, 0];
      if (part.type === "tool-call") calls += 1;
      if (part.type === "tool-error") reportInvalid(part, input);
      if (part.type === "finish-step") finishReason = part.finishReason;
      if (part.type === "error") return end({ ended: "failed", error: part.error });
      if (part.type === "abort") return end({ ended: "stopped" });
    }
  } catch (error) {
    return end(input.signal.aborted ? { ended: "stopped" } : { ended: "failed", error });
  }
  if (calls > 0) return end({ ended: "limited", limit: input.reached() ?? "iterations" });
  return end(readFinish(finishReason));
}

/** What the provider's word for the end of the last answer means. */
function readFinish(reason: string): Pick<LoopOutcome, "ended" | "limit" | "error"> {
  if (reason === "length") return { ended: "limited", limit: "tokens" };
  const fault = CUT_SHORT[reason];
  return fault === undefined ? { ended: "answered" } : { ended: "failed", error: new Error(fault) };
}

const CUT_SHORT: Readonly<Record<string, string>> = {
  "content-filter": "the provider withheld the answer (`content-filter`)",
  error: "the provider ended the answer with a fault of its own (`error`)",
};

async function toAgentTools({ tools, call, signal }: LoopInput): Promise<ToolSet> {
  const { dynamicTool, jsonSchema } = await import("ai");
  const toAgentTool = (tool: Tool): ToolSet[string] =>
    dynamicTool({
      description: tool.description,
      inputSchema: jsonSchema(tool.inputSchema as JSONSchema7),
      execute: (input, { toolCallId, abortSignal = signal }) =>
        call(tool, input as ToolInput, toolCallId, abortSignal),
      toModelOutput: ({ output }) => {
        const { text, isError } = output as ToolOutput;
        return { type: isError ? "error-text" : "text", value: text };
      },
    });
  return Object.fromEntries(tools.map((tool) => [tool.name, toAgentTool(tool)]));
}

function reportInvalid(
  {
    toolCallId,
    toolName,
    input,
    error,
  }: {
    readonly toolCallId: string;
    readonly toolName: string;
    readonly input: unknown;
    readonly error: unknown;
  },
  { onInvalidCall }: LoopInput,
): void {
  const reason = (error instanceof Error ? error.message : String(error)).replace(/^AI_\w+: /, "");
  onInvalidCall({ callId: toolCallId, tool: toolName, input, reason });
}
