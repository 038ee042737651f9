/** An answer that is known beforehand, in the two forms a model gives it: whole, or as a stream of parts. */
import type { AnswerStreamPart, FinishReason, StreamedAnswer, WholeAnswer } from "./answer-forms.ts";
import { ModelCutError } from "./model-cut-error.ts";

/** `input` of a call is what the model wrote: JSON, or what it took for JSON. */
export type AnswerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly callId: string; readonly tool: string; readonly input: string };

export interface PreparedAnswer {
  /** Names the blocks of a stream; not the same for two answers of a run. */
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

/** In small pieces, as a model sends it. A reader that goes on after the signal gets the signal's reason. */
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

function* callParts({
  callId: id,
  tool,
  input,
}: Extract<AnswerPart, { type: "tool-call" }>): Generator<AnswerStreamPart, void> {
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
