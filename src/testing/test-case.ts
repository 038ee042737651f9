/** One case of a test file: what is asked of the skill, what the model answers, and what is expected of it. */
import type { RunLimit, RunStatus } from "../events/run-event.ts";
import type { InvocationSource } from "../foundation/errors.ts";
import type { Caller, RefusalReason } from "../invoke/invocation.ts";
import type { Script } from "../model/script.ts";
import type { TextExpectation } from "../model/text-expectation.ts";
import type { Json } from "../skill/manifest.ts";

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
  /** Values for variables that the skill declares. */
  readonly env?: Readonly<Record<string, string>>;
  /** Texts in the folder that the run works in, by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** With a script the skill is run, and this is what its model answers. */
  readonly script?: Script;
  /** May be left out where there is a script, which expects something itself. */
  readonly expect?: CaseExpectation;
}

export interface CaseExpectation {
  /** Of the run's answer; without a script, of the instructions. */
  readonly text?: TextExpectation;
  /** `true`: for whatever reason. */
  readonly refused?: boolean | RefusalReason;
  /** Every tool that is called, in order. */
  readonly tools?: readonly ExpectedCall[];
  /** How the run ends. Default: `completed`. */
  readonly result?: ExpectedResult;
}

export interface ExpectedCall {
  readonly tool: string;
  /** Of the input, what is named here; lists are compared as a whole. */
  readonly input?: Json;
  /** Of what the tool answered. */
  readonly text?: TextExpectation;
  /** Default: that it was carried out. */
  readonly denied?: boolean;
}

export interface ExpectedResult {
  readonly status?: Exclude<RunStatus, "refused">;
  readonly limit?: RunLimit;
  /** Every file that the run made or changed, in any order. */
  readonly files?: readonly string[];
}

/** A case and where it stands. */
export interface LocatedCase {
  readonly test: TestCase;
  readonly line: number;
}
