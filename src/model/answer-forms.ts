/**
 * What a model of the AI SDK 7 answers, as far as a prepared answer needs it. Written out, so that the public type of the
 * scripted model fits the SDK's `LanguageModel` and yet names no package.
 */
import type { ScriptedAnswer } from "./script.ts";

export type FinishReason = NonNullable<ScriptedAnswer["finishReason"]>;

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

export type AnswerStreamPart =
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
