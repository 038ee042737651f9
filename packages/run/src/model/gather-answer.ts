/** Collects a streamed answer into a whole one, for models that only stream. */
import type { LanguageModelV4, LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";

const NO_USAGE: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

/** Throws an error from the stream. */
export async function gatherAnswer(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<Awaited<ReturnType<LanguageModelV4["doGenerate"]>>> {
  let text = "";
  let reasoning = "";
  let usage = NO_USAGE;
  let finishReason: Extract<LanguageModelV4StreamPart, { type: "finish" }>["finishReason"] = {
    unified: "interrupted",
    raw: undefined,
  };
  const calls: Extract<LanguageModelV4StreamPart, { type: "tool-call" }>[] = [];
  for await (const part of stream) {
    if (part.type === "text-delta") text += part.delta;
    if (part.type === "reasoning-delta") reasoning += part.delta;
    if (part.type === "tool-call") calls.push(part);
    if (part.type === "error") throw part.error;
    if (part.type === "finish") ({ usage, finishReason } = part);
  }
  const content = [
    ...(reasoning === "" ? [] : [{ type: "reasoning", text: reasoning } as const]),
    ...(text === "" ? [] : [{ type: "text", text } as const]),
    ...calls,
  ];
  return { content, usage, finishReason, warnings: [] };
}
