/** `ask_user`: a question to the person who started the run; without a way to ask, there is no such tool. */
import { sayFault } from "@metier/base/diagnostic";
import { cleanLine, cleanText } from "@metier/base/text";
import { answer, fault, inputSchema, type Tool, textSchema } from "./tool.ts";

export interface UserQuestion {
  /** Written by a model: shown, never acted on. */
  readonly question: string;
  /** Answers to choose from; others are allowed. */
  readonly options: readonly string[];
}

/** `undefined`: the person didn't answer. */
export type AskUser = (question: UserQuestion, signal: AbortSignal) => Promise<string | undefined>;

/** The same inside a run, where the call has a name. */
export type AskInCall = (
  question: UserQuestion,
  call: { readonly callId: string; readonly signal: AbortSignal },
) => Promise<string | undefined>;

const MAX_QUESTION = 4000;
const MAX_OPTIONS = 10;
const MAX_OPTION = 200;
const MAX_ANSWER = 20_000;

export function askUserTool(ask: AskInCall): Tool {
  return {
    name: "ask_user",
    description:
      "Asks the user one question and waits for the answer. Use it only for what you cannot find out or decide " +
      "yourself.",
    inputSchema: inputSchema(
      {
        question: textSchema("The question.", MAX_QUESTION),
        options: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: MAX_OPTION },
          maxItems: MAX_OPTIONS,
          description: "Answers to choose from; the user may give another one.",
        },
      },
      ["question"],
    ),
    effect: "talk",
    async execute(input, call) {
      const { question, options = [] } = input as {
        readonly question: string;
        readonly options?: readonly string[];
      };
      try {
        const asked = { question: cleanText(question).text, options: options.map(cleanLine) };
        const given = await ask(asked, call);
        if (given === undefined) {
          return fault("The user did not answer. Go on with what you know, and say what you assumed.");
        }
        return answer(cleanText(given.slice(0, MAX_ANSWER)).text);
      } catch (error) {
        const what = sayFault(error);
        return fault(`The user could not be asked: ${what}`);
      }
    },
  };
}
