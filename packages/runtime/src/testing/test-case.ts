/**
 * One case of a test file: the request, the model's answers, and the expectations. Without a script the skill is only
 * prepared, with one it runs; each difference is one problem, in words.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type InvocationSource, MetierError } from "@metier/base/errors";
import { checkContainedPath, showPath } from "@metier/base/files";
import { isJsonObject, type Json } from "@metier/base/json";
import { showNames } from "@metier/base/text";
import {
  type Caller,
  type InvocationRefusal,
  type PreparedInvocation,
  type RefusalReason,
  type RunRequest,
  type RunResult,
  refusalText,
} from "@metier/run";
import type { RunLimit, RunStatus } from "@metier/run/events";
import { compareExpectation, type Script, type TextExpectation } from "@metier/run/model";
import { tellEnding as describeEnding } from "../facades/skill-registry.ts";
import type { SkillTestHarness } from "./skill-test-harness.ts";
import { inTestPlace, type TestedCall, type TestRun } from "./test-metier.ts";

export interface TestCase {
  readonly name: string;
  /** One line, as on a command line. */
  readonly arguments?: string;
  /** For a skill with an input schema. */
  readonly input?: Json;
  /** The task in words. */
  readonly message?: string;
  /** Who invokes it. Default: `code`, which may invoke what a user or a model may. */
  readonly source?: InvocationSource;
  /** Default: a person in a private chat. */
  readonly caller?: Pick<Caller, "userId" | "chatId" | "chatType">;
  /** Values for variables the skill declares. */
  readonly env?: Readonly<Record<string, string>>;
  /** Text files in the run's working folder, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** With a script, the skill runs, and this is what its model answers. */
  readonly script?: Script;
  /** Optional if there is a script, which has its own expectations. */
  readonly expect?: CaseExpectation;
}

export interface CaseExpectation {
  /** The run's answer; without a script, the instructions. */
  readonly text?: TextExpectation;
  /** `true`: for any reason. */
  readonly refused?: boolean | RefusalReason;
  /** Every tool call, in order. */
  readonly tools?: readonly ExpectedCall[];
  /** How the run ends. Default: `completed`. */
  readonly result?: ExpectedResult;
}

export interface ExpectedCall {
  readonly tool: string;
  /** The named parts of the input; lists are compared as a whole. */
  readonly input?: Json;
  /** The tool's result. */
  readonly text?: TextExpectation;
  /** Default: it was carried out. */
  readonly denied?: boolean;
}

export interface ExpectedResult {
  readonly status?: Exclude<RunStatus, "refused">;
  readonly limit?: RunLimit;
  /** Every file the run created or changed, in any order. */
  readonly files?: readonly string[];
}

/** A case and its line. */
export interface LocatedCase {
  readonly test: TestCase;
  readonly line: number;
}

/** Only the user can set these, never the test file, which comes with the skill. */
export type CaseOptions = Pick<RunRequest, "approve" | "signal">;

const CALLER = { userId: "tester", chatId: "test", chatType: "private" };

export async function runTestCase(
  test: TestCase,
  harness: SkillTestHarness,
  options: CaseOptions,
): Promise<readonly string[]> {
  const { name: _name, expect = {}, script, files = {}, caller, ...asked } = test;
  const request = { ...asked, ...options, caller: { ...CALLER, ...caller } };
  try {
    if (script === undefined) {
      const outcome = await harness.prepare(request);
      return outcome.ok ? checkPrepared(expect, outcome.prepared) : checkRefusal(expect, outcome.refusal);
    }
    return await inTestPlace(async (place) => {
      const given = writeFiles(place.cwd, files);
      // One folder for reading and working: an untrusted skill sees no other.
      const run = await harness.run({ ...request, script, place, workDir: place.cwd });
      return checkRun(expect, { ...run, result: withoutGiven(run.result, place.cwd, given) });
    });
  } catch (fault) {
    // A skill that can't be loaded or a script that wasn't followed: errors of what is tested, not of the tester.
    if (fault instanceof MetierError) return [fault.message];
    throw fault;
  }
}

/** The files in the folder that the run created or changed. */
function withoutGiven(result: RunResult, folder: string, given: ReadonlyMap<string, Buffer>): RunResult {
  const isGiven = ({ path, size }: RunResult["files"][number]): boolean => {
    const bytes = given.get(path);
    return bytes !== undefined && bytes.length === size && bytes.equals(readFileSync(join(folder, path)));
  };
  return { ...result, files: result.files.filter((file) => !isGiven(file)) };
}

/** What was written, by path. */
function writeFiles(folder: string, files: Readonly<Record<string, string>>): ReadonlyMap<string, Buffer> {
  const written = new Map<string, Buffer>();
  for (const [path, text] of Object.entries(files)) {
    const checked = checkContainedPath(path);
    if (!checked.ok) throw new MetierError("usage.invalid", `In \`files\`: ${checked.message}`);
    const target = join(folder, ...checked.segments);
    try {
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text, { flag: "wx" });
      written.set(checked.path, Buffer.from(text));
    } catch (cause) {
      const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
      throw new MetierError("usage.invalid", `In \`files\`: ${showPath(path)} cannot be written (${why}).`, {
        hint: "Name each file once, and do not use a file's name as a folder.",
        cause,
      });
    }
  }
  return written;
}

type Problems = readonly string[];

function checkRefusal({ refused = false }: CaseExpectation, refusal: InvocationRefusal): Problems {
  const reasons = [refusal, ...refusal.also].map(({ reason }) => reason);
  if (refused === true || (refused !== false && reasons.includes(refused))) return [];
  const wanted = refused === false ? "it not to be refused" : `it to be refused because of \`${refused}\``;
  return [
    `expected ${wanted}, but it was refused because of ${showNames(reasons)}:\n  ${refusalText(refusal)}`,
  ];
}

function checkPrepared(expect: CaseExpectation, { instructions }: PreparedInvocation): Problems {
  return [...checkNotRefused(expect), ...some(compareExpectation("the text", expect.text, instructions))];
}

function checkRun(expect: CaseExpectation, { result, calls }: TestRun): Problems {
  if (result.refusal) return checkRefusal(expect, result.refusal);
  return [
    ...checkNotRefused(expect),
    ...checkEnding(expect.result ?? {}, result),
    ...some(compareExpectation("the answer", expect.text, result.text)),
    ...(expect.tools ? compareCalls(expect.tools, calls) : []),
  ];
}

function checkNotRefused({ refused = false }: CaseExpectation): Problems {
  if (refused === false) return [];
  return [`expected it to be refused${refused === true ? "" : ` because of \`${refused}\``}, but it was not`];
}

function checkEnding({ status = "completed", limit, files }: ExpectedResult, result: RunResult): Problems {
  const made = result.files.map(({ path }) => path);
  const isSame = files === undefined || isDeepStrictEqual(files.toSorted(), made.toSorted());
  return [
    ...unless(
      result.status === status,
      `expected the run to end as \`${status}\`, but it ended as \`${result.status}\`: ${describeEnding(result)}`,
    ),
    ...unless(
      limit === undefined || result.limit === limit,
      `expected the run to reach the limit of ${limit}, but it reached ${result.limit ?? "none"}`,
    ),
    ...unless(isSame, `expected the files ${list(files)}, but got ${list(made)}`),
  ];
}

function compareCalls(expected: readonly ExpectedCall[], came: readonly TestedCall[]): Problems {
  const [wanted, called] = [expected, came].map((calls) => calls.map(({ tool }) => tool));
  if (!isDeepStrictEqual(wanted, called)) {
    return [`expected calls of the tools\n  ${list(wanted)}\nbut got\n  ${list(called)}`];
  }
  return came.flatMap((call, index) => checkCall(expected[index] ?? call, call, index + 1));
}

function checkCall(
  { input, text, denied = false }: ExpectedCall,
  call: TestedCall,
  number: number,
): Problems {
  const what = `call ${number} (\`${call.tool}\`)`;
  return [
    ...unless(
      input === undefined || fitsData(input, call.input),
      `expected the input of ${what}\n  ${JSON.stringify(input)}\nbut got\n  ${JSON.stringify(call.input)}`,
    ),
    ...unless(
      call.denied === denied,
      `expected ${what} ${denied ? "not " : ""}to be carried out, but the result was\n  ${call.text}`,
    ),
    ...some(compareExpectation(`the result of ${what}`, text, call.text)),
  ];
}

/** A table may have more keys than expected; everything else must be equal. */
function fitsData(expected: Json, came: Json | undefined): boolean {
  if (!isJsonObject(expected)) return isDeepStrictEqual(expected, came);
  return (
    isJsonObject(came) &&
    Object.entries(expected).every(([key, value]) => fitsData(value as Json, came[key] as Json))
  );
}

function list(names: readonly string[] = []): string {
  return names.length > 0 ? names.join(", ") : "(none)";
}

function some(problem: string | undefined): Problems {
  return problem === undefined ? [] : [problem];
}

function unless(isFine: boolean, problem: string): Problems {
  return isFine ? [] : [problem];
}
