/**
 * The model of a durable run. An answer that was recorded is given again, without asking and without telling anybody; a new
 * one is recorded before any of its tool calls is carried out. Stands outside of the redaction gate, so that what is recorded
 * has passed it.
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Json } from "@metier/base/json";
import type { Redactor } from "@metier/sandbox/secrets";
import type { TokenUsage } from "../events/run-event.ts";
import type { GuardedModel } from "../run/guard-model.ts";
import type { DurableRunParts } from "./durable-run.ts";

/** What one answer used. */
export interface Spent {
  readonly usage: TokenUsage;
  /** Absent: no price is known. */
  readonly cost?: number | undefined;
}

interface RecordedAnswer extends Spent {
  readonly parts: readonly LanguageModelV4StreamPart[];
}

interface JournalModelOptions {
  readonly durable: DurableRunParts;
  readonly redactor: Redactor;
  /** Of the answer that has just ended. */
  spent(): Spent;
  /** Of an answer that is given again: it counts for limits, and is part of the text so far. */
  repeat(text: string, spent: Spent): void;
}

export function journalModel(guarded: GuardedModel, options: JournalModelOptions): GuardedModel {
  const { durable, repeat } = options;
  const { steps, parking } = durable;
  return {
    ...guarded,
    get steps() {
      return guarded.steps;
    },
    async doStream(call) {
      durable.step = guarded.steps + 1;
      const key = `model ${durable.step}`;
      const recorded = steps.find(key) as unknown as RecordedAnswer | undefined;
      if (recorded) {
        guarded.skip(call.prompt);
        repeat(textOf(recorded.parts), recorded);
        return { stream: ReadableStream.from(recorded.parts) as ReadableStream<LanguageModelV4StreamPart> };
      }
      if (steps.stopping.aborted) {
        parking.go("released");
        throw new Error("The worker stops; the run goes on elsewhere.");
      }
      const result = await guarded.doStream(call);
      return { ...result, stream: recordAnswer(result.stream, key, options) };
    },
  };
}

/** Calls and the end are held back until the whole answer is in the journal; text passes as it comes. */
function recordAnswer(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  key: string,
  { durable: { steps, parking }, redactor, spent }: JournalModelOptions,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts: LanguageModelV4StreamPart[] = [];
  const held: LanguageModelV4StreamPart[] = [];
  const reader = stream.getReader();
  parking.begin();
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      async pull(controller) {
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break; // An answer that broke off is none: the model is asked again.
          const part = nameCall(value, held);
          keepPart(parts, part);
          if (part.type === "tool-call" || part.type === "finish") held.push(part);
          else return controller.enqueue(part);
          // At once, so that the event of the answer is written with it.
          if (part.type === "finish") {
            await steps.record(key, redactor.redactJson({ parts, ...spent() } as unknown as Json));
          }
        }
        for (const part of held) controller.enqueue(part);
        controller.close();
        parking.end();
      },
      cancel(reason) {
        parking.end();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Some servers give all calls of an answer one id; in the journal each has its own. */
function nameCall(
  part: LanguageModelV4StreamPart,
  held: readonly LanguageModelV4StreamPart[],
): LanguageModelV4StreamPart {
  if (part.type !== "tool-call") return part;
  const taken = new Set(held.flatMap((other) => (other.type === "tool-call" ? [other.toolCallId] : [])));
  let { toolCallId } = part;
  for (let number = 2; taken.has(toolCallId); number += 1) toolCallId = `${part.toolCallId}-${number}`;
  return { ...part, toolCallId };
}

/** Pieces of one text become one; those of a call's input are in the call. What a provider sent beside it is not needed. */
function keepPart(parts: LanguageModelV4StreamPart[], part: LanguageModelV4StreamPart): void {
  if (part.type.startsWith("tool-input-") || part.type === "raw" || part.type === "error") return;
  const last = parts.at(-1);
  const isPiece = part.type === "text-delta" || part.type === "reasoning-delta";
  if (isPiece && last?.type === part.type && last.id === part.id && !part.providerMetadata) {
    parts[parts.length - 1] = { ...last, delta: last.delta + part.delta };
  } else parts.push(part);
}

function textOf(parts: readonly LanguageModelV4StreamPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}
