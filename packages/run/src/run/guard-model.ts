/**
 * The model as a run uses it. Everything sent to the provider and everything returned passes the redaction gate here,
 * and both become events. Nothing else in a run talks to a model.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import type { Json } from "@metier/base/json";
import type { RedactionStream, Redactor } from "@metier/sandbox/secrets";
import { estimateTokens } from "@metier/skills";
import type { MessagePart, RunEventBody, TokenUsage } from "../events/run-event.ts";
import { recordMessages, systemText } from "../model/messages.ts";
import { type ReadPart, type RetryOptions, retryModel } from "../model/retry.ts";

interface ModelGuard {
  readonly redactor: Redactor;
  emit(event: RunEventBody): void;
  /** After each answer: its cost, if a price is known. */
  onUsage(usage: TokenUsage): number | undefined;
  /** Each piece of text as it arrives. */
  onText(text: string): void;
  /** Each piece of anything the model writes: text, reasoning, tool input. */
  onOutput(piece: string): void;
  /** Stores each answer, which has then passed the gate, before its calls and its end are seen. */
  readonly keepAnswer?: RetryOptions["keepAnswer"] | undefined;
}

export interface GuardedModel extends LanguageModelV4 {
  /** How many times the model was asked. */
  readonly steps: number;
  /** A step taken earlier: counted, not asked. */
  skip(prompt: LanguageModelV4Prompt): void;
}

/** Retried after a transient error. */
export function guardModel(model: LanguageModelV4, guard: ModelGuard): GuardedModel {
  let steps = 0;
  let known = 0;
  const ask = (options: LanguageModelV4CallOptions): LanguageModelV4CallOptions => {
    const prompt = guard.redactor.redactJson(options.prompt) as LanguageModelV4Prompt;
    steps += 1;
    const system = steps === 1 ? systemText(prompt) : undefined;
    const messages = recordMessages(prompt.slice(known));
    guard.emit({ type: "model-called", step: steps, system, messages });
    known = prompt.length;
    return { ...options, prompt };
  };
  const retried = retryModel(model, {
    onRetry: (retry) => guard.emit({ type: "model-retried", step: steps, ...retry }),
    readAnswer: (call) => createAnswerReader(steps, call, guard),
    ...(guard.keepAnswer && { keepAnswer: guard.keepAnswer }),
  });
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    get steps() {
      return steps;
    },
    skip(prompt) {
      steps += 1;
      known = prompt.length;
    },
    doStream: async (options) => retried.doStream(ask(options)),
    doGenerate() {
      throw new Error("A run always streams its model's answer.");
    },
  };
}

/**
 * Reads an answer part by part and passes on what may be seen. Listeners get each piece of text here; the loop gets a
 * block's text in one piece, because each part costs it a dozen waits.
 */
function createAnswerReader(
  step: number,
  { prompt, abortSignal }: LanguageModelV4CallOptions,
  guard: ModelGuard,
): ReadPart {
  const { redactor, emit, onUsage, onOutput } = guard;
  const startedAt = performance.now();
  const parts: MessagePart[] = [];
  const blocks = new Map<string, TextBlock>();
  const thoughts = new Map<string, RedactionStream>();
  /** Calls whose input arrived in pieces and is already counted. */
  const pieced = new Set<string>();
  return (part) => {
    switch (part.type) {
      case "stream-start":
        return [{ ...part, warnings: [] }]; // The SDK would print them into our own output.
      case "text-start":
        blocks.set(part.id, { gate: redactor.stream(), text: "", passed: 0 });
        return [part];
      case "text-delta": {
        const block = blocks.get(part.id);
        tellText(block, block?.gate.push(part.delta), step, guard);
        // A stopped loop notices at the next part.
        return abortSignal?.aborted ? passText(part.id, block) : [];
      }
      case "text-end": {
        const block = blocks.get(part.id);
        tellText(block, block?.gate.end(), step, guard);
        parts.push({ type: "text", text: block?.text ?? "" });
        return [...passText(part.id, block), part];
      }
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        if (part.type === "reasoning-delta") onOutput(part.delta);
        return passThought(part, thoughts, redactor);
      case "tool-input-delta":
        pieced.add(part.id);
        onOutput(part.delta);
        return [part];
      case "tool-call":
        if (!pieced.has(part.toolCallId)) onOutput(part.input);
        parts.push(recordCall(part, redactor));
        return [part];
      case "finish": {
        const usage = toUsage(part.usage, prompt, parts);
        const cost = onUsage(usage);
        const durationMs = Math.round(performance.now() - startedAt);
        const finishReason = part.finishReason.unified;
        emit({ type: "model-answered", step, parts, finishReason, usage, cost, durationMs });
        return [part];
      }
      default:
        return [part];
    }
  };
}

interface TextBlock {
  readonly gate: RedactionStream;
  /** What has passed the gate. */
  text: string;
  /** How much of it the loop has received. */
  passed: number;
}

function tellText(
  block: TextBlock | undefined,
  text: string | undefined,
  step: number,
  { emit, onText, onOutput }: ModelGuard,
): void {
  if (block === undefined || !text) return;
  block.text += text;
  emit({ type: "text-delta", step, text });
  onText(text);
  onOutput(text);
}

function passText(id: string, block: TextBlock | undefined): readonly LanguageModelV4StreamPart[] {
  const delta = block?.text.slice(block.passed);
  if (block === undefined || !delta) return [];
  block.passed = block.text.length;
  return [{ type: "text-delta", id, delta }];
}

function recordCall(
  { toolCallId, toolName, input }: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>,
  redactor: ModelGuard["redactor"],
): MessagePart {
  return {
    type: "tool-call",
    callId: toolCallId,
    tool: toolName,
    input: redactor.redactJson(parseInput(input)),
  };
}

type Thought = Extract<
  LanguageModelV4StreamPart,
  { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }
>;

function passThought(
  part: Thought,
  thoughts: Map<string, RedactionStream>,
  redactor: Redactor,
): readonly LanguageModelV4StreamPart[] {
  if (part.type === "reasoning-start") {
    thoughts.set(part.id, redactor.stream());
    return [part];
  }
  const gate = thoughts.get(part.id);
  if (part.type === "reasoning-delta") {
    const delta = gate?.push(part.delta) ?? "";
    return delta || part.providerMetadata ? [{ ...part, delta }] : []; // A signature comes without text.
  }
  const rest = gate?.end();
  return [...(rest ? [{ type: "reasoning-delta", id: part.id, delta: rest } as const] : []), part];
}

/** The tool input the model wrote; text that isn't JSON is kept as is. */
function parseInput(input: string): Json {
  try {
    return JSON.parse(input) as Json;
  } catch {
    return input;
  }
}

/** Some local servers count nothing: then an estimate, an upper bound, is used, so that limits apply. */
function toUsage(
  { inputTokens, outputTokens }: LanguageModelV4Usage,
  prompt: LanguageModelV4Prompt,
  parts: readonly MessagePart[],
): TokenUsage {
  const input = inputTokens.total ?? estimateTokens(JSON.stringify(prompt));
  const output = outputTokens.total ?? estimateTokens(JSON.stringify(parts));
  return { inputTokens: input, outputTokens: output, totalTokens: input + output };
}
