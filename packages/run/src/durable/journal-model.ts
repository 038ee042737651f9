/**
 * The model of a durable run. A recorded answer is replayed without asking the model or emitting events; a new one is
 * recorded before any of its tool calls is carried out. Recorded text has passed the redaction gate.
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { Json } from "@metier/base/json";
import type { Redactor } from "@metier/sandbox/secrets";
import type { TokenUsage } from "../events/run-event.ts";
import type { AnswerKeeper } from "../model/retry.ts";
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
  /** For a replayed answer: it counts toward limits, and is part of the text so far. */
  repeat(text: string, spent: Spent): void;
}

/** `guarded` stores its answers with `recordAnswer`. */
export function journalModel(guarded: GuardedModel, { durable, repeat }: JournalModelOptions): GuardedModel {
  const { steps, parking } = durable;
  return {
    ...guarded,
    get steps() {
      return guarded.steps;
    },
    async doStream(call) {
      durable.step = guarded.steps + 1;
      const recorded = steps.find(keyOf(durable)) as unknown as RecordedAnswer | undefined;
      if (recorded) {
        guarded.skip(call.prompt);
        repeat(textOf(recorded.parts), recorded);
        return { stream: ReadableStream.from(recorded.parts) as ReadableStream<LanguageModelV4StreamPart> };
      }
      if (steps.stopping.aborted) {
        parking.go("released");
        throw new Error("The worker is stopping; the run continues elsewhere.");
      }
      return guarded.doStream(call);
    },
  };
}

function keyOf({ step }: Pick<DurableRunParts, "step">): string {
  return `model ${step}`;
}

interface AnswerToRecord {
  readonly durable: DurableRunParts;
  readonly redactor: Redactor;
  /** Of the answer that just ended. */
  spent(): Spent;
}

/** Calls and the end are held back until the whole answer is in the journal; text passes immediately. */
export function recordAnswer({ durable, redactor, spent }: AnswerToRecord): AnswerKeeper {
  const { steps, parking } = durable;
  const key = keyOf(durable);
  const parts: LanguageModelV4StreamPart[] = [];
  const held: LanguageModelV4StreamPart[] = [];
  parking.begin();
  return {
    take(given) {
      const part = nameCall(given, held);
      keepPart(parts, part);
      if (part.type !== "tool-call" && part.type !== "finish") return part;
      held.push(part);
      return undefined;
    },
    async end() {
      // Immediately, so that the answer's event is written with it.
      await steps.record(key, redactor.redactJson({ parts, ...spent() } as unknown as Json));
      parking.end();
      return held;
    },
    cancel: () => parking.end(),
  };
}

/** Some servers give all calls of an answer the same id; in the journal, each has its own. */
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

/**
 * Pieces of one text are joined; pieces of a call's input are already in the call. Anything else the provider sent
 * isn't needed.
 */
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
