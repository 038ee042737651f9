/**
 * Messages to and from a model, converted between the AI SDK's form and ours: a prepared answer, whole or as a stream
 * of parts, and a prompt as stored in events.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { Json } from "@metier/base/json";
import type { MessagePart, RecordedMessage } from "../events/run-event.ts";
import { ModelCutError } from "./provider-fault.ts";
import type { ScriptedAnswer } from "./script.ts";

/** `input` of a call is what the model wrote: JSON, or what it took for JSON. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly callId: string; readonly tool: string; readonly input: string };
type AnswerCall = Extract<AnswerPart, { type: "tool-call" }>;

export interface PreparedAnswer {
  /** Names the blocks of a stream; differs for each answer of a run. */
  readonly id: string;
  readonly parts: readonly AnswerPart[];
  readonly finishReason: FinishReason;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

export function giveWhole({ parts, finishReason, usage }: PreparedAnswer): WholeAnswer {
  const content = parts.map((part): WholeAnswer["content"][number] =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "tool-call", toolCallId: part.callId, toolName: part.tool, input: part.input },
  );
  return {
    content,
    finishReason: { unified: finishReason, raw: finishReason },
    usage: toUsage(usage),
    warnings: [],
  };
}

/** In small pieces, as a model sends it. A reader that continues after the signal gets the signal's reason. */
export function giveStream(answer: PreparedAnswer, signal?: AbortSignal): StreamedAnswer {
  const parts = streamParts(answer);
  const stream = new ReadableStream<AnswerStreamPart>({
    pull(controller) {
      if (signal?.aborted) return controller.error(signal.reason);
      const { value, done } = parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return { stream };
}

function* streamParts({ id, parts, finishReason, usage }: PreparedAnswer): Generator<AnswerStreamPart, void> {
  yield { type: "stream-start", warnings: [] };
  for (const [index, part] of parts.entries()) {
    if (part.type === "text") yield* textParts(`${id}-${index}`, part.text);
    else yield* callParts(part);
  }
  if (finishReason === "interrupted") yield { type: "error", error: new ModelCutError() };
  yield { type: "finish", finishReason: { unified: finishReason, raw: finishReason }, usage: toUsage(usage) };
}

function* textParts(id: string, text: string): Generator<AnswerStreamPart, void> {
  yield { type: "text-start", id };
  for (const delta of cut(text)) yield { type: "text-delta", id, delta };
  yield { type: "text-end", id };
}

function* callParts({ callId: id, tool, input }: AnswerCall): Generator<AnswerStreamPart, void> {
  yield { type: "tool-input-start", id, toolName: tool };
  for (const delta of cut(input)) yield { type: "tool-input-delta", id, delta };
  yield { type: "tool-input-end", id };
  yield { type: "tool-call", toolCallId: id, toolName: tool, input };
}

/** Whole code points, so that no piece ends in half a character. */
function cut(text: string): readonly string[] {
  return text.match(/[\s\S]{1,12}/gu) ?? [];
}

function toUsage({ inputTokens, outputTokens }: PreparedAnswer["usage"]): WholeAnswer["usage"] {
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: 0 },
  };
}

/*
 * An AI SDK 7 model's answer, as far as a prepared answer needs it. Written out, so that the scripted model's public
 * type matches the SDK's `LanguageModel` without naming a package.
 */
type FinishReason = NonNullable<ScriptedAnswer["finishReason"]>;

interface AnswerEnding {
  finishReason: { unified: FinishReason; raw: string };
  usage: {
    inputTokens: { total: number; noCache: number; cacheRead: number; cacheWrite: number };
    outputTokens: { total: number; text: number; reasoning: number };
  };
}

interface AnsweredCall {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  /** JSON. */
  input: string;
}

export interface WholeAnswer extends AnswerEnding {
  content: ({ type: "text"; text: string } | AnsweredCall)[];
  warnings: never[];
}

type AnswerStreamPart =
  | { type: "stream-start"; warnings: never[] }
  | { type: "text-start" | "text-end" | "tool-input-end"; id: string }
  | { type: "text-delta" | "tool-input-delta"; id: string; delta: string }
  | { type: "tool-input-start"; id: string; toolName: string }
  | AnsweredCall
  | { type: "error"; error: unknown }
  | ({ type: "finish" } & AnswerEnding);

export interface StreamedAnswer {
  stream: ReadableStream<AnswerStreamPart>;
}

/*
 * A prompt as stored in events: texts, calls and results. Files are named, not stored; a model's reasoning and a
 * provider's own additions are left out, because they aren't part of what was said.
 */
export function systemText(prompt: LanguageModelV4Prompt): string | undefined {
  const texts = prompt.filter((message) => message.role === "system").map(({ content }) => content);
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}

export function recordMessages(messages: LanguageModelV4Prompt): readonly RecordedMessage[] {
  return messages.flatMap((message) =>
    message.role === "system" ? [] : [{ role: message.role, parts: message.content.flatMap(recordPart) }],
  );
}

type Part = Exclude<LanguageModelV4Message, { role: "system" }>["content"][number];

function recordPart(part: Part): readonly MessagePart[] {
  switch (part.type) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "reasoning":
    case "reasoning-file":
    case "custom":
      return [];
    case "tool-call":
      return [{ type: "tool-call", callId: part.toolCallId, tool: part.toolName, input: part.input as Json }];
    case "tool-result":
      return [
        { type: "tool-result", callId: part.toolCallId, tool: part.toolName, ...readOutput(part.output) },
      ];
    default:
      return [{ type: "text", text: `[${part.type}]` }];
  }
}

type ToolOutput = Extract<Part, { type: "tool-result" }>["output"];

function readOutput(output: ToolOutput): { readonly text: string; readonly isError: boolean } {
  switch (output.type) {
    case "text":
      return { text: output.value, isError: false };
    case "error-text":
      return { text: output.value, isError: true };
    case "execution-denied":
      return { text: output.reason ?? "denied", isError: true };
    default:
      return { text: JSON.stringify(output.value), isError: output.type === "error-json" };
  }
}
