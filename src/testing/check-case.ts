/** What came of a case, held against what it expects. Every difference is one problem, in words. */
import { isDeepStrictEqual } from "node:util";
import { describeEnding } from "../facades/invocation-text.ts";
import type { PreparedInvocation, Refusal } from "../invoke/invocation.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import { compareText } from "../model/text-expectation.ts";
import type { RunResult } from "../run/run-result.ts";
import type { Json } from "../skill/manifest.ts";
import { showNames } from "../validate/report.ts";
import type { TestRun } from "./run-scripted.ts";
import { isTable } from "./strict-reader.ts";
import type { CaseExpectation, ExpectedCall, ExpectedResult } from "./test-case.ts";
import type { TestedCall } from "./tool-calls.ts";

type Problems = readonly string[];

export function checkRefusal({ refused = false }: CaseExpectation, refusal: Refusal): Problems {
  const reasons = [refusal, ...refusal.also].map(({ reason }) => reason);
  if (refused === true || (refused !== false && reasons.includes(refused))) return [];
  const wanted = refused === false ? "that it is not refused" : `a refusal because of \`${refused}\``;
  return [`expected ${wanted}, but it was, because of ${showNames(reasons)}:\n  ${refusalText(refusal)}`];
}

export function checkPrepared(expect: CaseExpectation, { instructions }: PreparedInvocation): Problems {
  return [...checkNotRefused(expect), ...some(compareText("the text", expect.text, instructions))];
}

export function checkRun(expect: CaseExpectation, { result, calls }: TestRun): Problems {
  if (result.refusal) return checkRefusal(expect, result.refusal);
  return [
    ...checkNotRefused(expect),
    ...checkEnding(expect.result ?? {}, result),
    ...some(compareText("the answer", expect.text, result.text)),
    ...(expect.tools ? checkCalls(expect.tools, calls) : []),
  ];
}

function checkNotRefused({ refused = false }: CaseExpectation): Problems {
  if (refused === false) return [];
  return [`expected a refusal${refused === true ? "" : ` because of \`${refused}\``}, but it may be used`];
}

function checkEnding({ status = "completed", limit, files }: ExpectedResult, result: RunResult): Problems {
  const made = result.files.map(({ path }) => path);
  const isSame = files === undefined || isDeepStrictEqual(files.toSorted(), made.toSorted());
  return [
    ...(result.status === status
      ? []
      : [
          `expected that the run ends as \`${status}\`, but it ended as \`${result.status}\`: ${describeEnding(result)}`,
        ]),
    ...(limit === undefined || result.limit === limit
      ? []
      : [`expected the limit of ${limit}, but reached was ${result.limit ?? "none"}`]),
    ...(isSame ? [] : [`expected the files ${list(files)}, but there were ${list(made)}`]),
  ];
}

function checkCalls(expected: readonly ExpectedCall[], came: readonly TestedCall[]): Problems {
  const names = (calls: readonly { readonly tool: string }[]): string => list(calls.map(({ tool }) => tool));
  const isSame = isDeepStrictEqual(
    expected.map(({ tool }) => tool),
    came.map(({ tool }) => tool),
  );
  if (!isSame)
    return [`expected calls of the tools\n  ${names(expected)}\nbut called were\n  ${names(came)}`];
  return came.flatMap((call, index) => checkCall(expected[index] ?? call, call, index + 1));
}

function checkCall(
  { input, text, denied = false }: ExpectedCall,
  call: TestedCall,
  number: number,
): Problems {
  const what = `call ${number}, of \`${call.tool}\``;
  return [
    ...(input === undefined || fitsData(input, call.input)
      ? []
      : [
          `expected of the input of ${what}\n  ${JSON.stringify(input)}\nbut it was\n  ${JSON.stringify(call.input)}`,
        ]),
    ...(call.denied === denied
      ? []
      : [
          `expected that ${what}, is ${denied ? "not " : ""}carried out, but it was answered\n  ${call.text}`,
        ]),
    ...some(compareText(`what ${what}, answered`, text, call.text)),
  ];
}

/** A table may have more keys than expected; everything else is equal. */
function fitsData(expected: Json, came: Json | undefined): boolean {
  if (!isTable(expected)) return isDeepStrictEqual(expected, came);
  return (
    isTable(came) &&
    Object.entries(expected).every(([key, value]) => fitsData(value as Json, came[key] as Json))
  );
}

function list(names: readonly string[]): string {
  return names.length > 0 ? names.join(", ") : "(none)";
}

function some(problem: string | undefined): Problems {
  return problem === undefined ? [] : [problem];
}
