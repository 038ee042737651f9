/**
 * A model that follows a script, strict both ways: a request that the script does not expect fails, and so does a
 * script that was not used up. Needs no network and no time; for tests and examples.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { MetierError } from "../foundation/errors.ts";
import type { StreamedAnswer, WholeAnswer } from "./answer-forms.ts";
import { type AnswerPart, giveStream, giveWhole, type PreparedAnswer } from "./prepared-answer.ts";
import { recordMessages, systemText } from "./record-prompt.ts";
import type { Script, ScriptedAnswer, ScriptedTurn } from "./script.ts";
import { compareText, shortenText } from "./text-expectation.ts";
import { waitFor } from "./wait.ts";

export interface ScriptedModel extends LanguageModelV4 {
  readonly supportedUrls: Record<string, never>;
  doGenerate(options: LanguageModelV4CallOptions): PromiseLike<WholeAnswer>;
  doStream(options: LanguageModelV4CallOptions): PromiseLike<StreamedAnswer>;
  /** Turns that nobody asked for yet. */
  readonly remaining: number;
  /** Throws unless every turn was used. */
  assertDone(): void;
}

export class ScriptMismatchError extends MetierError {
  constructor(message: string) {
    super("model.unscripted", message);
  }
}

/** What a provider's fault looks like to those who decide about retries. */
class ScriptedFault extends Error {
  readonly statusCode?: number;
  constructor({ message, status }: NonNullable<ScriptedAnswer["error"]>) {
    super(message);
    this.name = "ScriptedFault";
    if (status !== undefined) this.statusCode = status;
  }
}

export function createScriptedModel(script: Script, name = "script"): ScriptedModel {
  let used = 0;
  const answer = async (options: LanguageModelV4CallOptions): Promise<PreparedAnswer> => {
    options.abortSignal?.throwIfAborted();
    const turn = script[used];
    if (turn === undefined) {
      throw new ScriptMismatchError(
        `The script \`${name}\` has ${script.length} turns, but the model was asked once more.\n${describeRequest(options)}`,
      );
    }
    const mismatch = compareTurn(turn, options);
    if (mismatch) throw new ScriptMismatchError(`Turn ${used + 1} of the script \`${name}\`: ${mismatch}`);
    used += 1;
    const number = used;
    if (turn.answer.delayMs) await waitFor(turn.answer.delayMs, options.abortSignal);
    if (turn.answer.error) throw new ScriptedFault(turn.answer.error);
    return prepare(turn.answer, number);
  };
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: name,
    supportedUrls: {},
    get remaining() {
      return script.length - used;
    },
    assertDone() {
      if (used === script.length) return;
      const next = JSON.stringify(script[used]?.expect ?? script[used]?.answer);
      throw new ScriptMismatchError(
        `The script \`${name}\` has ${script.length} turns, but the model was asked only ${used} times. Next would be ${next}.`,
      );
    },
    doGenerate: async (options) => giveWhole(await answer(options)),
    doStream: async (options) => giveStream(await answer(options), options.abortSignal),
  };
}

function prepare(
  { text, toolCalls = [], usage, finishReason }: ScriptedAnswer,
  turn: number,
): PreparedAnswer {
  const calls = toolCalls.map(
    ({ tool, input, id }, index): AnswerPart => ({
      type: "tool-call",
      callId: id ?? `call-${turn}-${index + 1}`,
      tool,
      input: typeof input === "string" ? input : JSON.stringify(input),
    }),
  );
  return {
    id: `text-${turn}`,
    parts: [...(text ? [{ type: "text", text } as const] : []), ...calls],
    finishReason: finishReason ?? (calls.length > 0 ? "tool-calls" : "stop"),
    usage: usage ?? { inputTokens: 10, outputTokens: 5 },
  };
}

function compareTurn({ expect = {} }: ScriptedTurn, options: LanguageModelV4CallOptions): string | undefined {
  const request = readRequest(options);
  const offered = request.tools.toSorted().join(", ");
  const wanted = expect.tools?.toSorted().join(", ");
  if (wanted !== undefined && wanted !== offered) {
    return `expected the tools\n  ${wanted || "(none)"}\nbut offered were\n  ${offered || "(none)"}`;
  }
  return (
    compareText("the system prompt", expect.system, request.system) ??
    compareText("the last user text", expect.lastUserText, request.lastUserText) ??
    compareText("the tool result", expect.toolResult, request.toolResult)
  );
}

interface ReadRequest {
  readonly system: string;
  readonly lastUserText: string;
  readonly toolResult: string;
  readonly tools: readonly string[];
}

function readRequest({ prompt, tools = [] }: LanguageModelV4CallOptions): ReadRequest {
  const messages = recordMessages(prompt);
  const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
  const results = messages.slice(lastAnswer + 1).flatMap(({ parts }) => parts);
  const user = messages.findLast(({ role }) => role === "user")?.parts ?? [];
  return {
    system: systemText(prompt) ?? "",
    lastUserText: user.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    toolResult: results.flatMap((part) => (part.type === "tool-result" ? [part.text] : [])).join("\n"),
    tools: tools.map(({ name }) => name),
  };
}

function describeRequest(options: LanguageModelV4CallOptions): string {
  const { lastUserText, toolResult } = readRequest(options);
  const [what, text] = toolResult ? ["tool result", toolResult] : ["user text", lastUserText];
  return `Its last ${what} was\n  ${shortenText(text)}`;
}
