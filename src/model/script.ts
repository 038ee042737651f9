/** A script for the scripted model: what is expected to be asked and what is answered, turn by turn. Plain JSON. */
import type { Json } from "../skill/manifest.ts";
import type { TextExpectation } from "./text-expectation.ts";

export interface TurnExpectation {
  readonly system?: TextExpectation;
  /** The text of the last message of the user. */
  readonly lastUserText?: TextExpectation;
  /** The results that came since the last answer, joined by line ends. */
  readonly toolResult?: TextExpectation;
  /** The names of all tools that are offered, in any order. */
  readonly tools?: readonly string[];
}

export interface ScriptedCall {
  readonly tool: string;
  /** A text is sent as it is, also when it is no JSON. */
  readonly input: Json;
  readonly id?: string;
}

export interface ScriptedAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly ScriptedCall[];
  /** The call fails, as it would over HTTP when there is a status. */
  readonly error?: { readonly message: string; readonly status?: number };
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  readonly finishReason?:
    | "stop"
    | "length"
    | "content-filter"
    | "tool-calls"
    | "error"
    | "interrupted"
    | "other";
  /** Time to think; a cancelled call does not wait for it. */
  readonly delayMs?: number;
}

export interface ScriptedTurn {
  readonly expect?: TurnExpectation;
  readonly answer: ScriptedAnswer;
}

export type Script = readonly ScriptedTurn[];

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isTextOrTexts = (value: unknown): boolean => isText(value) || isTexts(value);
const isExpectation = (value: unknown): boolean =>
  isText(value) ||
  fits(value, { contains: isTextOrTexts, excludes: isTextOrTexts, equals: isText, matches: isText });
const isCall = (value: unknown): boolean =>
  fits(value, { tool: isText, input: (input) => input !== undefined, id: isText }, ["tool", "input"]);
const isUsage = (value: unknown): boolean =>
  fits(value, { inputTokens: isCount, outputTokens: isCount }, ["inputTokens", "outputTokens"]);

const EXPECT: Shape = {
  system: isExpectation,
  lastUserText: isExpectation,
  toolResult: isExpectation,
  tools: isTexts,
};
const ANSWER: Shape = {
  text: isText,
  toolCalls: (value) => Array.isArray(value) && value.every(isCall),
  error: (value) => fits(value, { message: isText, status: isCount }, ["message"]),
  usage: isUsage,
  finishReason: isText,
  delayMs: isCount,
};

/** What is wrong with a value that should be a script; nothing when it is one. */
export function checkScript(value: unknown): string | undefined {
  if (!Array.isArray(value)) return "It must be a list of turns.";
  const wrong = value.findIndex(
    (turn) =>
      !fits(turn, { expect: (part) => fits(part, EXPECT), answer: (part) => fits(part, ANSWER) }, ["answer"]),
  );
  if (wrong < 0) return undefined;
  return `Turn ${wrong + 1} is not \`{ expect?: { ${Object.keys(EXPECT).join(", ")} }, answer: { ${Object.keys(ANSWER).join(", ")} } }\`.`;
}

function fits(value: unknown, shape: Shape, required: readonly string[] = []): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const given = Object.entries(value);
  return (
    given.every(([key, item]) => Object.hasOwn(shape, key) && shape[key]?.(item)) &&
    required.every((key) => Object.hasOwn(value, key))
  );
}
