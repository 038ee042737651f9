/** A script for the scripted model: expected requests and their answers, turn by turn. Plain JSON. */
import { UsageError } from "@metier/base/errors";
import type { Json } from "@metier/base/json";
import { checkKeys } from "@metier/base/shape";

/** What the request of one turn must contain; a different request fails the model call. */
export interface TurnExpectation {
  /** The system prompt. */
  readonly system?: TextExpectation;
  /** The text of the user's last message. */
  readonly lastUserText?: TextExpectation;
  /** The results since the last answer, joined by line breaks. */
  readonly toolResult?: TextExpectation;
  /** The names of all offered tools, in any order. */
  readonly tools?: readonly string[];
}

/** A tool call that the scripted model makes. */
export interface ScriptedCall {
  /** The tool's name, as models call it. */
  readonly tool: string;
  /** A string is sent unchanged, even if it isn't JSON. */
  readonly input: Json;
  /** The id of the call. Default: `call-<turn>-<number>`, such as `call-1-1`. */
  readonly id?: string;
}

/** What the scripted model answers in one turn: text, tool calls, both, or an error. */
export interface ScriptedAnswer {
  /** The text of the answer; it precedes the tool calls. */
  readonly text?: string;
  /** The tools it calls, in order. Default: none. */
  readonly toolCalls?: readonly ScriptedCall[];
  /** Makes the call fail, as over HTTP if there is a status. */
  readonly error?: {
    /** The error message. */
    readonly message: string;
    /** The HTTP status; with 408, 409, 429 and 5xx, the call is retried. */
    readonly status?: number;
  };
  /** The tokens the answer counts as. Default: 10 input and 5 output tokens. */
  readonly usage?: {
    /** Tokens the model read. */
    readonly inputTokens: number;
    /** Tokens the model wrote. */
    readonly outputTokens: number;
  };
  /** Why the model stopped. Default: `tool-calls` with tool calls, else `stop`. */
  readonly finishReason?:
    | "stop"
    | "length"
    | "content-filter"
    | "tool-calls"
    | "error"
    | "interrupted"
    | "other";
  /** Time before the answer; a cancelled call doesn't wait. */
  readonly delayMs?: number;
}

/** One model call: the expected request, and its answer. */
export interface ScriptedTurn {
  /** What the request must contain. Default: any request is answered. */
  readonly expect?: TurnExpectation;
  /** What the model answers. */
  readonly answer: ScriptedAnswer;
}

/** The turns of a scripted model, used in order, one per model call; for `createScriptedModel`. */
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

/** For a program's script: throws for a key that a turn doesn't have. */
export function checkScriptKeys(call: string, script: unknown): void {
  if (!Array.isArray(script)) throw new UsageError(`\`${call}\` takes a list of turns.`);
  for (const [index, turn] of script.entries()) {
    const where = `${call}, turn ${index + 1}`;
    checkKeys(where, turn ?? null, { expect: true, answer: true });
    checkKeys(`${where}, expect`, turn.expect, EXPECT);
    checkKeys(`${where}, answer`, turn.answer ?? null, ANSWER);
  }
}

/** What is wrong with a value that should be a script; nothing if it is one. */
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

/** Expectations for a text. A string means `contains`. All of them must be met. */
export type TextExpectation = string | TextRequirements;

/** What must be true of a text; all given fields must match. Case-sensitive. */
export interface TextRequirements {
  /** A part that must be in it, or several that must all be. */
  readonly contains?: string | readonly string[];
  /** A part that must not be in it, or several. */
  readonly excludes?: string | readonly string[];
  /** The whole text. */
  readonly equals?: string;
  /** A regular expression; for untrusted patterns, one from a safe engine. */
  readonly matches?: string | TextPattern;
}

/** Also a `RegExp`. */
export interface TextPattern {
  /** Whether the pattern matches somewhere in the text. */
  test(text: string): boolean;
}

const MOST_SHOWN = 600;

/** In words, which expectation isn't met; nothing if all are. */
export function compareExpectation(
  what: string,
  expected: TextExpectation | undefined,
  came: string,
): string | undefined {
  if (expected === undefined || meets(expected, came)) return undefined;
  return `expected ${what}\n  ${JSON.stringify(expected)}\nbut got\n  ${shortenText(came)}`;
}

function meets(expected: TextExpectation, came: string): boolean {
  const requirements = typeof expected === "string" ? { contains: expected } : expected;
  const { contains = [], excludes = [], equals, matches }: TextRequirements = requirements;
  const pattern = typeof matches === "string" ? new RegExp(matches, "u") : matches;
  return (
    [contains].flat().every((part) => came.includes(part)) &&
    ![excludes].flat().some((part) => came.includes(part)) &&
    (equals === undefined || came === equals) &&
    (pattern === undefined || pattern.test(came))
  );
}

/** In quotes, so that its ends are visible. */
export function shortenText(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
}
