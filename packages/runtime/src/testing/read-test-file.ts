/**
 * Reads a test file: one case, a list of cases, or the same under `cases`. Strict, because a misspelled key would test
 * nothing.
 */
import { isJsonObject, type JsonSchema } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import {
  choiceShape,
  countShape,
  describedShape,
  flagShape,
  jsonShape,
  listShape,
  mapShape,
  reportAt,
  type Shape,
  type ShapeFault,
  type ShapePlace,
  schemaOf,
  tableShape,
  textOrShape,
  textShape,
} from "@metier/base/shape";
import { REFUSAL_REASONS } from "@metier/run";
import type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedTurn,
  TextExpectation,
  TextPattern,
  TextRequirements,
  TurnExpectation,
} from "@metier/run/model";
import { ConfigSyntaxError } from "@metier/skills/config";
import { compileExactPattern, parseYamlValue } from "@metier/skills/formats";
import type { CaseExpectation, ExpectedCall, ExpectedResult, LocatedCase, TestCase } from "./test-case.ts";

export interface TestFileFault {
  readonly line: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

export type TestFileReading = Result<readonly LocatedCase[], readonly TestFileFault[]>;

export function readTestFile(text: string): TestFileReading {
  const parsed = parse(text);
  if (!parsed.ok) return refused([parsed.refusal]);
  const document = parsed.value;
  const lineOf = (path: readonly string[]): number => document.locate(path)?.line ?? 1;
  const faults: ShapeFault[] = [];
  const cases = readCases(document.value, { path: [], faults });
  if (faults.length === 0 && cases.length === 0) {
    reportAt({ path: [], faults }, "The file has no cases.", NO_CASE);
  }
  return faults.length === 0
    ? done(cases.map(({ test, path }) => ({ test, line: lineOf(path) })))
    : refused(faults.map(({ path, ...fault }) => ({ line: lineOf(path), ...fault })));
}

function parse(text: string): Result<ReturnType<typeof parseYamlValue>, TestFileFault> {
  try {
    return done(parseYamlValue(text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n")));
  } catch (fault) {
    // The parser is recursive: nesting beyond the stack is the document's fault.
    if (!(fault instanceof ConfigSyntaxError || fault instanceof RangeError)) throw fault;
    const { line = 1 } = fault instanceof ConfigSyntaxError ? (fault.position ?? {}) : {};
    const why = fault instanceof ConfigSyntaxError ? fault.message : "it is nested too deeply";
    return refused({ line, message: `The file is not valid YAML: ${why}.` });
  }
}

const NO_CASE = "Write a list of cases, each with `name` and `expect`.";

interface ReadCase {
  readonly test: TestCase;
  readonly path: readonly string[];
}

function readCases(value: unknown, place: ShapePlace): readonly ReadCase[] {
  if (isJsonObject(value) && Object.keys(value).length === 0) return [];
  const isWrapped = isJsonObject(value) && "cases" in value;
  if (isWrapped) tableShape({ cases: jsonShape })(value, place); // Nothing else is allowed next to it.
  const list = isWrapped ? value.cases : value;
  const path = isWrapped ? [...place.path, "cases"] : place.path;
  if (!Array.isArray(list)) return readOne(list, { ...place, path });
  const cases = list.flatMap((item, number) => readOne(item, { ...place, path: [...path, String(number)] }));
  reportSameNames(cases, place);
  return cases;
}

function readOne(value: unknown, place: ShapePlace): readonly ReadCase[] {
  const test = readCase(value, place);
  if (test === undefined) return [];
  const { script, expect = {} } = test;
  if (script === undefined && (expect.tools ?? expect.result) !== undefined) {
    reportAt(place, "`expect.tools` and `expect.result` need a run, and a case without `script` has none.");
  }
  if (script === undefined && expect.text === undefined && expect.refused === undefined) {
    reportAt(place, "The case expects nothing.", "Add `text` or `refused` to `expect`, or a `script`.");
  }
  return [{ test, path: place.path }];
}

function reportSameNames(cases: readonly ReadCase[], { faults }: ShapePlace): void {
  const names = new Set<string>();
  for (const { test, path } of cases) {
    if (names.has(test.name)) {
      reportAt(
        { path, faults },
        `Two cases in this file have the name \`${test.name}\`.`,
        "Rename one of them.",
      );
    }
    names.add(test.name);
  }
}

/** A regex engine that no text can keep busy: a test file comes with its skill, which may be untrusted. */
const readPattern: Shape<TextPattern> = describedShape(
  () => schemaOf(textShape),
  (value, place) => {
    const text = textShape(value, place);
    if (text === undefined) return undefined;
    const pattern = compileExactPattern(text);
    if (!pattern.ok) return reportAt(place, `\`matches\` is not a usable pattern: ${pattern.refusal}.`);
    const { value: compiled } = pattern;
    return { test: (came) => compiled.matches(came), toJSON: () => text };
  },
);

const readTexts = textOrShape(textShape, listShape(textShape), "a string or a list of strings");

const readRequirements = tableShape<TextRequirements>({
  contains: readTexts,
  excludes: readTexts,
  equals: textShape,
  matches: readPattern,
});

const readExpectedText: Shape<TextExpectation> = textOrShape(
  textShape,
  describedShape(
    () => ({ ...schemaOf(readRequirements), minProperties: 1 }),
    (value, place) => {
      const requirements = readRequirements(value, place);
      const saysNothing = requirements && Object.values(requirements).flat().length === 0;
      return saysNothing ? reportAt(place, "`text` expects nothing.") : requirements;
    },
  ),
  "a string, or a table with `contains`, `excludes`, `equals` or `matches`",
);

const readTurn: Shape<ScriptedTurn> = tableShape<ScriptedTurn>(
  {
    expect: tableShape<TurnExpectation>({
      system: readExpectedText,
      lastUserText: readExpectedText,
      toolResult: readExpectedText,
      tools: listShape(textShape),
    }),
    answer: tableShape<ScriptedAnswer>({
      text: textShape,
      toolCalls: listShape(
        tableShape<ScriptedCall>({ tool: textShape, input: jsonShape, id: textShape }, ["tool", "input"]),
      ),
      error: tableShape<NonNullable<ScriptedAnswer["error"]>>({ message: textShape, status: countShape }, [
        "message",
      ]),
      usage: tableShape<NonNullable<ScriptedAnswer["usage"]>>(
        { inputTokens: countShape, outputTokens: countShape },
        ["inputTokens", "outputTokens"],
      ),
      finishReason: choiceShape(
        "stop",
        "length",
        "content-filter",
        "tool-calls",
        "error",
        "interrupted",
        "other",
      ),
      delayMs: countShape,
    }),
  },
  ["answer"],
);

const readScript: Shape<Script> = listShape(readTurn);

const readExpectedCall: Shape<ExpectedCall> = textOrShape<ExpectedCall, ExpectedCall>(
  (value) => ({ tool: String(value) }),
  tableShape<ExpectedCall>({ tool: textShape, input: jsonShape, text: readExpectedText, denied: flagShape }, [
    "tool",
  ]),
  "a tool name, or a table with `tool`",
);

const readStatus = choiceShape("completed", "limited", "failed", "cancelled");

const readExpectedResult: Shape<ExpectedResult> = textOrShape<ExpectedResult, ExpectedResult>(
  describedShape(
    () => schemaOf(readStatus),
    (value, place) => {
      const status = readStatus(value, place);
      return status && { status };
    },
  ),
  tableShape<ExpectedResult>({
    status: readStatus,
    limit: choiceShape("iterations", "time", "tokens", "cost", "output", "depth"),
    files: listShape(textShape),
  }),
  "a run status, or a table with `status`, `limit` or `files`",
);

const readReason = choiceShape(...REFUSAL_REASONS);

const readRefused: Shape<NonNullable<CaseExpectation["refused"]>> = describedShape(
  () => ({ anyOf: [{ type: "boolean" }, schemaOf(readReason)] }),
  (value, place) => (typeof value === "boolean" ? value : readReason(value, place)),
);

const readCase: Shape<TestCase> = tableShape<TestCase>(
  {
    name: textShape,
    arguments: textShape,
    input: jsonShape,
    message: textShape,
    source: choiceShape("model", "user", "code"),
    caller: tableShape<NonNullable<TestCase["caller"]>>({
      userId: textShape,
      chatId: textShape,
      chatType: textShape,
    }),
    env: mapShape(textShape),
    files: mapShape(textShape),
    script: readScript,
    expect: tableShape<CaseExpectation>({
      text: readExpectedText,
      refused: readRefused,
      tools: listShape(readExpectedCall),
      result: readExpectedResult,
    }),
  },
  ["name"],
);

/** The schema of a test file: one case, a list of them, or a list under `cases`. */
export function describeTestFile(): JsonSchema {
  const list = { type: "array", minItems: 1, items: { $ref: "#/$defs/case" } };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Skill test file",
    description: "Cases that `metier test` runs: tests/*.test.yaml beside a skill.",
    anyOf: [
      list,
      { type: "object", required: ["cases"], properties: { cases: list }, additionalProperties: false },
      { $ref: "#/$defs/case" },
    ],
    $defs: { case: schemaOf(readCase) },
  };
}
