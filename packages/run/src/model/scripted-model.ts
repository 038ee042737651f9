/**
 * A model that follows a script, strict both ways: an unexpected request fails, and so does an unused turn. Needs no
 * network and no time; for tests and examples.
 */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { MetierError } from "@metier/base/errors";
import { readBounded } from "@metier/base/files";
import { done, type Result, refused } from "@metier/base/result";
import {
  type AnswerPart,
  giveStream,
  giveWhole,
  type PreparedAnswer,
  recordMessages,
  type StreamedAnswer,
  systemText,
  type WholeAnswer,
} from "./messages.ts";
import type { ModelRefusal } from "./model-request.ts";
import { waitFor } from "./provider-fault.ts";
import {
  checkScript,
  compareExpectation,
  type Script,
  type ScriptedAnswer,
  type ScriptedTurn,
  shortenText,
} from "./script.ts";

export interface ScriptModel extends LanguageModelV4 {
  readonly supportedUrls: Record<string, never>;
  doGenerate(options: LanguageModelV4CallOptions): PromiseLike<WholeAnswer>;
  doStream(options: LanguageModelV4CallOptions): PromiseLike<StreamedAnswer>;
  /** Turns not used yet. */
  readonly remaining: number;
  /** Throws unless every turn was used. */
  assertDone(): void;
}

export class ScriptMismatchError extends MetierError {
  constructor(message: string) {
    super("model.unscripted", message);
  }
}

/** A provider's error as retry logic sees it. */
class ScriptedFault extends Error {
  readonly statusCode: number | undefined;
  constructor({ message, status }: NonNullable<ScriptedAnswer["error"]>) {
    super(message);
    this.name = "ScriptedFault";
    this.statusCode = status;
  }
}

export function createScriptModel(script: Script, name = "script"): ScriptModel {
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
        `The script \`${name}\` has ${script.length} turns, but the model was asked only ${used} times. The next turn is ${next}.`,
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
    return `expected the tools\n  ${wanted || "(none)"}\nbut got\n  ${offered || "(none)"}`;
  }
  return (
    compareExpectation("the system prompt", expect.system, request.system) ??
    compareExpectation("the last user text", expect.lastUserText, request.lastUserText) ??
    compareExpectation("the tool result", expect.toolResult, request.toolResult)
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

const MAX_BYTES = 4_194_304;

/** The `scripted` provider: a script from a JSON file. */
export function openScript(path: string): Result<ScriptModel, ModelRefusal> {
  const read = readBounded(path, MAX_BYTES);
  if (!read.ok) return refused({ message: read.message, hint: HINT });
  const parsed = parse(read.text);
  const fault = parsed === undefined ? "It is not JSON." : checkScript(parsed);
  if (fault) return refused({ message: `\`${path}\` is not a script. ${fault}`, hint: HINT });
  return done(createScriptModel(parsed as Script, path));
}

const HINT =
  "A scripted model's `model` is the path of a JSON file: a list of turns with `expect` and `answer`.";

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The caller reports it, with the path.
  }
}
