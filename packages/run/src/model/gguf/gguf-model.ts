/**
 * A GGUF file as an AI SDK model, through node-llama-cpp: streams text, thoughts and calls. A conversation that is too
 * long is an error; node-llama-cpp would silently drop its start.
 */
import { randomUUID } from "node:crypto";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { gatherAnswer } from "../gather-answer.ts";
import type { LlamaFunctions, LlamaMessage, LlamaOptions } from "./gguf-library.ts";
import { readParams, toLlamaFunctions, toLlamaHistory, toLlamaSchema } from "./gguf-prompt.ts";
import { type GgufStart, type LoadedGguf, useGguf } from "./loaded-gguf.ts";

/** Room for the text around a call. */
const SPARE_TOKENS = 64;
/** Less room isn't enough for an answer. */
const LEAST_ANSWER_TOKENS = 128;

export function createGgufModel(start: GgufStart, name: string): LanguageModelV4 {
  const doStream: LanguageModelV4["doStream"] = (options) => ask(start, options);
  return {
    specificationVersion: "v4",
    provider: "gguf",
    modelId: name,
    supportedUrls: {},
    doStream,
    doGenerate: async (options) => gatherAnswer((await doStream(options)).stream),
  };
}

/** Throws if it can't be loaded or doesn't fit; once there is a stream, the model is writing. */
async function ask(
  start: GgufStart,
  options: LanguageModelV4CallOptions,
): Promise<{ stream: ReadableStream<LanguageModelV4StreamPart> }> {
  const stop = new AbortController();
  const { abortSignal } = options;
  const signal = abortSignal ? AbortSignal.any([abortSignal, stop.signal]) : stop.signal;
  const history = toLlamaHistory(options.prompt);
  const functions = toLlamaFunctions(options);
  const begun = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>();
  const answered = useGguf(start, signal, async (loaded) => {
    const fitted = fit(loaded, history, functions);
    const { writable, readable } = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>(
      {},
      { highWaterMark: Number.POSITIVE_INFINITY },
    );
    const writer = writable.getWriter();
    writer.closed.catch(() => stop.abort()); // Nobody is reading anymore.
    begun.resolve({ stream: readable });
    const tell = (...parts: readonly LanguageModelV4StreamPart[]): void => {
      for (const part of parts) writer.write(part).catch(() => undefined); // `closed` has reported it.
    };
    try {
      tell({ type: "stream-start", warnings: [] });
      await write(loaded, { history, functions, options, signal, fitted }, tell);
      await writer.close();
    } catch (fault) {
      await writer.abort(signal.aborted ? signal.reason : fault);
    }
  });
  answered.catch(begun.reject);
  return begun.promise;
}

interface Fitted {
  readonly promptTokens: number;
  readonly room: number;
}

function fit(
  { chat, model, context }: LoadedGguf,
  chatHistory: readonly LlamaMessage[],
  functions: LlamaFunctions | undefined,
): Fitted {
  const { contextText } = chat.chatWrapper.generateContextState({
    chatHistory,
    ...(functions && { availableFunctions: functions, documentFunctionParams: true }),
  });
  const promptTokens = contextText.tokenize(model.tokenizer).length;
  const room = context.contextSize - promptTokens - SPARE_TOKENS;
  if (room >= LEAST_ANSWER_TOKENS) return { promptTokens, room };
  const most = model.trainContextSize;
  const advice =
    context.contextSize < most
      ? `raise \`context-tokens\` (the model takes ${most}), or shorten the conversation`
      : "use a model with a larger context, or shorten the conversation";
  throw new Error(
    `The request has ${promptTokens} tokens, but the context only has ${context.contextSize}: ${advice}.`,
  );
}

interface Writing {
  readonly history: readonly LlamaMessage[];
  readonly functions: LlamaFunctions | undefined;
  readonly options: LanguageModelV4CallOptions;
  readonly signal: AbortSignal;
  readonly fitted: Fitted;
}

async function write(
  loaded: LoadedGguf,
  { history, functions, options, signal, fitted }: Writing,
  tell: (...parts: readonly LanguageModelV4StreamPart[]) => void,
): Promise<void> {
  const { temperature, topK, topP, seed, stopSequences, maxOutputTokens = fitted.room, tools = [] } = options;
  const blocks = createBlocks();
  const before = loaded.sequence.tokenMeter.getState();
  const settings: LlamaOptions = {
    signal,
    maxTokens: Math.min(maxOutputTokens, fitted.room),
    onResponseChunk: ({ segmentType, text }) => tell(...blocks.add(segmentType ? "reasoning" : "text", text)),
    ...definedOnly({ temperature, topK, topP, seed, customStopTriggers: stopSequences }),
    ...(functions
      ? { functions, documentFunctionParams: true }
      : definedOnly({ grammar: await grammarFor(loaded, options) })),
  };
  const { functionCalls = [], metadata } = await loaded.chat.generateResponse(history, settings);
  const after = loaded.sequence.tokenMeter.getState();
  tell(...blocks.close());
  for (const { functionName: toolName, params } of functionCalls) {
    const tool = tools.find(({ name }) => name === toolName);
    const schema = tool?.type === "function" ? tool.inputSchema : undefined;
    const input = JSON.stringify(readParams(params, schema));
    tell({ type: "tool-call", toolCallId: randomUUID(), toolName, input });
  }
  tell({
    type: "finish",
    finishReason: { unified: finishOf(metadata.stopReason), raw: metadata.stopReason },
    usage: countUsage(
      fitted.promptTokens,
      after.usedInputTokens - before.usedInputTokens,
      after.usedOutputTokens - before.usedOutputTokens,
    ),
  });
}

/** A request for JSON is constrained to it if no tools are offered. */
async function grammarFor(
  { llama }: LoadedGguf,
  { responseFormat }: LanguageModelV4CallOptions,
): Promise<object | undefined> {
  if (responseFormat?.type !== "json") return undefined;
  const { schema } = responseFormat;
  return schema ? llama.createGrammarForJsonSchema(toLlamaSchema(schema)) : llama.getGrammarFor("json");
}

type Block = "text" | "reasoning";

/** Tracks which block of the stream is open. */
function createBlocks(): {
  add(kind: Block, delta: string): readonly LanguageModelV4StreamPart[];
  close(): readonly LanguageModelV4StreamPart[];
} {
  let open: { readonly kind: Block; readonly id: string } | undefined;
  const close = (): readonly LanguageModelV4StreamPart[] => {
    const ended = open;
    open = undefined;
    return ended ? [{ type: `${ended.kind}-end`, id: ended.id }] : [];
  };
  return {
    close,
    add(kind, delta) {
      if (delta === "") return [];
      if (open?.kind === kind) return [{ type: `${kind}-delta`, id: open.id, delta }];
      const before = close();
      const id = randomUUID();
      open = { kind, id };
      return [...before, { type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }];
    },
  };
}

type Finish = Extract<LanguageModelV4StreamPart, { type: "finish" }>;

function finishOf(reason: string): Finish["finishReason"]["unified"] {
  if (reason === "functionCalls") return "tool-calls";
  return reason === "maxTokens" ? "length" : "stop";
}

/** Only the part of the prompt that isn't in the context yet is evaluated. */
function countUsage(promptTokens: number, evaluated: number, written: number): Finish["usage"] {
  const fresh = Math.min(Math.max(evaluated, 0), promptTokens);
  return {
    inputTokens: {
      total: promptTokens,
      noCache: fresh,
      cacheRead: promptTokens - fresh,
      cacheWrite: undefined,
    },
    outputTokens: { total: written, text: written, reasoning: undefined },
  };
}

/** The package treats `undefined` as a value. */
function definedOnly<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>;
}
