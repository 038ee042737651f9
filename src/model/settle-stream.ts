/**
 * A provider's stream that always ends properly: one that breaks, reports an error, or stops before its answer did, ends
 * in an `error` part and an `interrupted` finish. The loop then keeps what came, runs no tool on half a call, and stops.
 */
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from "@ai-sdk/provider";
import { ModelCutError } from "./model-cut-error.ts";

type Part = LanguageModelV4StreamPart;
type Finish = Extract<Part, { type: "finish" }>;
type Reader = Pick<ReadableStreamDefaultReader<Part>, "read" | "cancel">;

const NO_USAGE: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

const INTERRUPTED: Finish["finishReason"] = { unified: "interrupted", raw: undefined };

/** `first` are parts that were read already. Aborting is no cut: the signal's reason goes on as it is. */
export function settleStream(
  first: readonly Part[],
  reader: Reader,
  signal?: AbortSignal,
): ReadableStream<Part> {
  const waiting = [...first];
  const open: OpenBlocks = new Map();
  let failed = false;
  return new ReadableStream<Part>({
    async pull(controller) {
      const part = waiting.shift() ?? (await readPart(reader, signal));
      failed ||= part.type === "error";
      if (part.type !== "finish") {
        noteBlock(part, open);
        controller.enqueue(part);
        return;
      }
      const isBroken = isCut(part);
      for (const [id, type] of open) controller.enqueue({ type, id });
      if (isBroken && !failed) controller.enqueue({ type: "error", error: cutError(part) });
      controller.enqueue(isBroken || failed ? { ...part, finishReason: INTERRUPTED } : part);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

type OpenBlocks = Map<string, "text-end" | "reasoning-end">;

/** A stream that ends without a finish is given one that says so; the fault that broke it goes with it. */
interface BrokenEnd extends Finish {
  readonly fault: unknown;
}

async function readPart(reader: Reader, signal?: AbortSignal): Promise<Part> {
  try {
    const { value, done } = await reader.read();
    return done ? brokenEnd(undefined) : value;
  } catch (error) {
    if (signal?.aborted) throw error;
    return brokenEnd(error);
  }
}

function brokenEnd(fault: unknown): BrokenEnd {
  return { type: "finish", finishReason: INTERRUPTED, usage: NO_USAGE, fault };
}

function cutError(finish: Finish): ModelCutError {
  return new ModelCutError("fault" in finish ? finish.fault : undefined);
}

/** Providers end a stream that simply stopped with a finish of their own, which no word of the server stands behind. */
export function isCut(part: Part): boolean {
  if (part.type !== "finish" || part.finishReason.raw !== undefined) return false;
  return ["other", "error", "interrupted"].includes(part.finishReason.unified);
}

function noteBlock(part: Part, open: OpenBlocks): void {
  if (part.type === "text-start") open.set(part.id, "text-end");
  if (part.type === "reasoning-start") open.set(part.id, "reasoning-end");
  if (part.type === "text-end" || part.type === "reasoning-end") open.delete(part.id);
}
