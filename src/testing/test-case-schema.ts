/** Which keys a case of a test file has, and what each may be. `test-case.ts` says what they mean. */
import { compileExactPattern } from "../find/trigger-pattern.ts";
import { REFUSAL_REASONS } from "../invoke/invocation.ts";
import type { Script, ScriptedAnswer, ScriptedCall, ScriptedTurn, TurnExpectation } from "../model/script.ts";
import type { TextExpectation, TextPattern, TextRequirements } from "../model/text-expectation.ts";
import {
  type Read,
  readChoice,
  readCount,
  readData,
  readFlag,
  readList,
  readMap,
  readTable,
  readText,
  readTextOr,
  report,
} from "./strict-reader.ts";
import type { CaseExpectation, ExpectedCall, ExpectedResult, TestCase } from "./test-case.ts";

/** An engine that no text can keep busy: a test file comes with its skill, and nobody has to trust that. */
const readPattern: Read<TextPattern> = (value, place) => {
  const text = readText(value, place);
  if (text === undefined) return undefined;
  const pattern = compileExactPattern(text);
  if (!pattern.ok) return report(place, `\`matches\` is no pattern that can be used: ${pattern.fault}.`);
  return Object.assign(pattern, { test: (came: string) => pattern.matches(came), toJSON: () => text });
};

const readTexts = readTextOr(readText, readList(readText), "a text or a list of texts");

const readRequirements = readTable<TextRequirements>({
  contains: readTexts,
  excludes: readTexts,
  equals: readText,
  matches: readPattern,
});

const readExpectedText: Read<TextExpectation> = readTextOr(
  readText,
  (value, place) => {
    const requirements = readRequirements(value, place);
    const saysNothing = requirements && Object.values(requirements).flat().length === 0;
    return saysNothing ? report(place, "Nothing is expected of the text.") : requirements;
  },
  "a text, or a table with `contains`, `excludes`, `equals` or `matches`",
);

const readTurn: Read<ScriptedTurn> = readTable<ScriptedTurn>(
  {
    expect: readTable<TurnExpectation>({
      system: readExpectedText,
      lastUserText: readExpectedText,
      toolResult: readExpectedText,
      tools: readList(readText),
    }),
    answer: readTable<ScriptedAnswer>({
      text: readText,
      toolCalls: readList(
        readTable<ScriptedCall>({ tool: readText, input: readData, id: readText }, ["tool", "input"]),
      ),
      error: readTable<NonNullable<ScriptedAnswer["error"]>>({ message: readText, status: readCount }, [
        "message",
      ]),
      usage: readTable<NonNullable<ScriptedAnswer["usage"]>>(
        { inputTokens: readCount, outputTokens: readCount },
        ["inputTokens", "outputTokens"],
      ),
      finishReason: readChoice(
        "stop",
        "length",
        "content-filter",
        "tool-calls",
        "error",
        "interrupted",
        "other",
      ),
      delayMs: readCount,
    }),
  },
  ["answer"],
);

const readScript: Read<Script> = readList(readTurn);

const readExpectedCall: Read<ExpectedCall> = readTextOr<ExpectedCall, ExpectedCall>(
  (value) => ({ tool: String(value) }),
  readTable<ExpectedCall>({ tool: readText, input: readData, text: readExpectedText, denied: readFlag }, [
    "tool",
  ]),
  "the name of a tool, or a table with `tool`",
);

const readStatus = readChoice("completed", "limited", "failed", "cancelled");

const readExpectedResult: Read<ExpectedResult> = readTextOr<ExpectedResult, ExpectedResult>(
  (value, place) => {
    const status = readStatus(value, place);
    return status && { status };
  },
  readTable<ExpectedResult>({
    status: readStatus,
    limit: readChoice("iterations", "time", "tokens", "cost", "output", "depth"),
    files: readList(readText),
  }),
  "how a run ends, or a table with `status`, `limit` or `files`",
);

const readReason = readChoice(...REFUSAL_REASONS);

const readRefused: Read<NonNullable<CaseExpectation["refused"]>> = (value, place) =>
  typeof value === "boolean" ? value : readReason(value, place);

export const readCase: Read<TestCase> = readTable<TestCase>(
  {
    name: readText,
    arguments: readText,
    input: readData,
    message: readText,
    source: readChoice("model", "user", "code"),
    caller: readTable<NonNullable<TestCase["caller"]>>({
      userId: readText,
      chatId: readText,
      chatType: readText,
    }),
    env: readMap(readText),
    files: readMap(readText),
    script: readScript,
    expect: readTable<CaseExpectation>({
      text: readExpectedText,
      refused: readRefused,
      tools: readList(readExpectedCall),
      result: readExpectedResult,
    }),
  },
  ["name"],
);
