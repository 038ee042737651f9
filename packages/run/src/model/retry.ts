/**
 * Retries a model call if the provider's error may pass, and waits as long as the provider asks. Only what nobody has
 * seen yet is repeated: once part of the answer was passed on, an error ends the answer.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import {
  describeTransient,
  isTransient,
  ModelCutError,
  readRetryHint,
  responseHeaders,
  waitFor,
} from "./provider-fault.ts";

export interface Retry {
  /** Number of the next call: 2, 3 … */
  readonly attempt: number;
  readonly delayMs: number;
  readonly reason: string;
}

export interface RetryOptions {
  /** Total calls. Default: 3. */
  readonly tries?: number;
  /** For all waits together. A provider that asks for more isn't retried. Default: 60 s. */
  readonly maxWaitMs?: number;
  onRetry?(retry: Retry): void;
  /** Reads a streamed answer: returns what to pass on of each part. Called once per answer. Default: everything. */
  readAnswer?(call: LanguageModelV4CallOptions): ReadPart;
  /** Stores a streamed answer before it ends for its reader. Called once per answer. Default: nothing is stored. */
  keepAnswer?(): AnswerKeeper;
  wait?(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Returns what of a part may be seen: nothing, or one or more parts. */
export type ReadPart = (part: LanguageModelV4StreamPart) => readonly LanguageModelV4StreamPart[];

/** Receives what `readAnswer` passes on. */
export interface AnswerKeeper {
  /** Returns what is passed on immediately. */
  take(part: LanguageModelV4StreamPart): LanguageModelV4StreamPart | undefined;
  /** The answer has ended: returns what was held back, once it may continue. */
  end(): Promise<readonly LanguageModelV4StreamPart[]>;
  /** Nobody reads it anymore. */
  cancel(): void;
}

const FIRST_DELAY_MS = 1000;

/** Set the AI SDK's `maxRetries: 0`, or both retry. */
export function retryModel(model: LanguageModelV4, options: RetryOptions = {}): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (call) => repeat(async () => model.doGenerate(call), options, call.abortSignal),
    doStream: (call) =>
      repeat(async () => startStream(await model.doStream(call), call, options), options, call.abortSignal),
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

/** Parts without content yet: an error after these can still be retried. */
const PREAMBLE = new Set<LanguageModelV4StreamPart["type"]>([
  "stream-start",
  "response-metadata",
  "custom",
  "ping",
  "raw",
]);

/** Resolves with the first part that has content; throws an error before it. */
async function startStream(
  result: LanguageModelV4StreamResult,
  call: LanguageModelV4CallOptions,
  { readAnswer = () => (part) => [part], keepAnswer }: RetryOptions,
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
    if (PREAMBLE.has(value.type)) continue;
    const [read, keeper] = [readAnswer(call), keepAnswer?.()];
    const pass: ReadPart = keeper ? (part) => read(part).flatMap((seen) => keeper.take(seen) ?? []) : read;
    const answer = { read: pass, keeper, signal: call.abortSignal };
    return { ...result, stream: settleStream(first, reader, answer) };
  }
}

/** Stream error events are plain objects; their fields say whether to retry. */
function toError(fault: unknown): Error {
  if (fault instanceof Error) return fault;
  const fields = typeof fault === "object" && fault !== null ? fault : { message: String(fault) };
  return Object.assign(new Error("The provider reported an error."), fields);
}

type Part = LanguageModelV4StreamPart;
type Finish = Extract<Part, { type: "finish" }>;
type Reader = Pick<ReadableStreamDefaultReader<Part>, "read" | "cancel">;

interface Answer {
  readonly read: ReadPart;
  readonly keeper?: Pick<AnswerKeeper, "end" | "cancel"> | undefined;
  readonly signal?: AbortSignal | undefined;
}

const NO_USAGE: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

const INTERRUPTED: Finish["finishReason"] = { unified: "interrupted", raw: undefined };

/**
 * A stream that always ends properly: if it breaks, reports an error, or stops early, it ends with an `error` part and
 * an `interrupted` finish. The loop then keeps what arrived, runs no tool on half a call, and stops. `first` are parts
 * already read. Aborting isn't a cut: the signal's reason passes unchanged.
 *
 * Settled, read and stored in one stream with one wait per part: a second stream would double the cost.
 */
function settleStream(
  first: readonly Part[],
  reader: Reader,
  { read, keeper, signal }: Answer,
): ReadableStream<Part> {
  const waiting = [...first];
  const settle = createSettler();
  const brokenBy = (fault: unknown): Part => {
    if (signal?.aborted) throw fault;
    return brokenEnd(fault);
  };
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        for (let hasPassed = false; !hasPassed; ) {
          const part =
            waiting.shift() ??
            (await reader.read().then(({ value = brokenEnd(undefined) }) => value, brokenBy));
          for (const settled of settle(part)) {
            for (const passed of read(settled)) {
              controller.enqueue(passed);
              hasPassed = true;
            }
          }
          if (part.type !== "finish") continue;
          if (keeper) for (const held of await keeper.end()) controller.enqueue(held);
          return controller.close();
        }
      },
      cancel(reason) {
        keeper?.cancel();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Each part of an answer as it is passed on; the finish is replaced by everything that ends the answer properly. */
function createSettler(): ReadPart {
  const open: OpenBlocks = new Map();
  let failed = false;
  return (part) => {
    failed ||= part.type === "error";
    if (part.type !== "finish") {
      noteBlock(part, open);
      return [part];
    }
    const isBroken = isCut(part);
    const ends = [...open].map(([id, type]): Part => ({ type, id }));
    const fault = isBroken && !failed ? [cutPart("fault" in part ? part.fault : undefined)] : [];
    return [...ends, ...fault, isBroken || failed ? { ...part, finishReason: INTERRUPTED } : part];
  };
}

function cutPart(fault: unknown): Part {
  return { type: "error", error: new ModelCutError(fault) };
}

type OpenBlocks = Map<string, "text-end" | "reasoning-end">;

/** A stream without a finish gets one that says so, with the error that broke it. */
interface BrokenEnd extends Finish {
  readonly fault: unknown;
}

function brokenEnd(fault: unknown): BrokenEnd {
  return { type: "finish", finishReason: INTERRUPTED, usage: NO_USAGE, fault };
}

/** For a stream that simply stopped, providers add their own finish, which the server never sent. */
function isCut(part: Part): boolean {
  if (part.type !== "finish" || part.finishReason.raw !== undefined) return false;
  return ["other", "error", "interrupted"].includes(part.finishReason.unified);
}

function noteBlock(part: Part, open: OpenBlocks): void {
  if (part.type === "text-start") open.set(part.id, "text-end");
  if (part.type === "reasoning-start") open.set(part.id, "reasoning-end");
  if (part.type === "text-end" || part.type === "reasoning-end") open.delete(part.id);
}
