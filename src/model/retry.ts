/**
 * A model that asks again when the provider's fault may be gone in a moment, and waits as long as the provider says.
 * Only what nobody has seen yet is repeated: once a part of the answer was given on, a fault ends the answer.
 */
import type {
  LanguageModelV4,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { ModelCutError } from "./model-cut-error.ts";
import { readRetryHint } from "./retry-hint.ts";
import { isCut, settleStream } from "./settle-stream.ts";
import { describeTransient, isTransient, responseHeaders } from "./transient-fault.ts";
import { waitFor } from "./wait.ts";

export interface Retry {
  /** Of the call that comes next: 2, 3 … */
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

export interface RetryOptions {
  /** Calls in all. Default: 3. */
  readonly tries?: number;
  /** Of all waits together. A provider that asks for more is not asked again. Default: 60 s. */
  readonly maxWaitMs?: number;
  onRetry?(retry: Retry): void;
  wait?(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

const FIRST_DELAY_MS = 1000;

/** Give `maxRetries: 0` to the AI SDK beside it, or both repeat. */
export function retryModel(model: LanguageModelV4, options: RetryOptions = {}): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (call) => repeat(async () => model.doGenerate(call), options, call.abortSignal),
    doStream: (call) =>
      repeat(
        async () => startStream(await model.doStream(call), call.abortSignal),
        options,
        call.abortSignal,
      ),
  };
}

async function repeat<T>(
  ask: () => Promise<T>,
  { tries = 3, maxWaitMs = 60_000, onRetry, wait = waitFor }: RetryOptions,
  signal?: AbortSignal,
): Promise<T> {
  let waited = 0;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask();
    } catch (error) {
      const delayMs = Math.ceil(
        readRetryHint(responseHeaders(error), Date.now()) ?? FIRST_DELAY_MS * 2 ** (attempt - 1),
      );
      const isOver = attempt >= tries || waited + delayMs > maxWaitMs;
      if (isOver || signal?.aborted || !isTransient(error)) throw error;
      waited += delayMs;
      onRetry?.({ attempt: attempt + 1, delayMs, reason: describeTransient(error) });
      await wait(delayMs, signal);
    }
  }
}

/** Parts that say nothing yet: a fault after these can still be repeated. */
const PREAMBLE = new Set<LanguageModelV4StreamPart["type"]>([
  "stream-start",
  "response-metadata",
  "custom",
  "ping",
  "raw",
]);

/** Resolves with the first part that says something; a fault before it is thrown. */
async function startStream(
  result: LanguageModelV4StreamResult,
  signal?: AbortSignal,
): Promise<LanguageModelV4StreamResult> {
  const reader = result.stream.getReader();
  const first: LanguageModelV4StreamPart[] = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done || isCut(value)) throw new ModelCutError();
    if (value.type === "error") {
      await reader.cancel();
      throw toError(value.error);
    }
    first.push(value);
    if (!PREAMBLE.has(value.type)) return { ...result, stream: settleStream(first, reader, signal) };
  }
}

/** Error events of a stream are plain objects; their fields say whether to ask again. */
function toError(fault: unknown): Error {
  if (fault instanceof Error) return fault;
  const fields = typeof fault === "object" && fault !== null ? fault : { message: String(fault) };
  return Object.assign(new Error("The provider reported an error."), fields);
}
