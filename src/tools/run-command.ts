/**
 * A command run for a model: how it ended, and both streams apart. Of a long output the model gets the beginning and the
 * end; the whole goes to files in the work folder, without secrets, and the text names them.
 */
import type { CommandOutcome, Sandbox, SandboxCommand } from "../sandbox/sandbox.ts";
import { readJsonOutput } from "./json-output.ts";
import { explainMissing, findMissingProgram } from "./missing-program.ts";
import { createOutputPager, type PagedOutput, type PagedStream } from "./page-output.ts";
import { answer, fault, type ToolContext, type ToolOutput } from "./tool.ts";

/** Of both streams together. */
const MAX_CHARACTERS = 30_000;
/** What standard error may take of it when standard output is long, too. */
const ERROR_SHARE = MAX_CHARACTERS / 3;
/** What a command writes after this is in the files alone. */
export const MAX_OUTPUT_BYTES: number = 1024 * 1024;

/** What is asked for; signal and output are those of the call. */
export type ModelCommand = Pick<SandboxCommand, "argv" | "world" | "cwd" | "env" | "stdin" | "limits">;

/** What depends on who asked for the command. */
export interface Advice {
  /** For a command that ran out of time. */
  readonly moreTime: string;
  /** Output that is one JSON value is marked as such. */
  readonly marksJson?: boolean;
  /** For a program that is not there. Default: how programs come into the sandbox. */
  onMissing?(program: string): string;
}

export async function runForModel(
  sandbox: Sandbox,
  command: ModelCommand,
  { callId, world, signal, redactStream }: Pick<ToolContext, "callId" | "world" | "signal" | "redactStream">,
  advice: Advice,
): Promise<ToolOutput> {
  const pager = createOutputPager({
    world,
    callId,
    maxCharacters: MAX_CHARACTERS,
    ...(redactStream && { redactStream }),
  });
  const outcome = await sandbox.run({
    ...command,
    signal,
    onOutput: (stream, chunk) => pager.take(stream, chunk),
  });
  const { onMissing = explainMissing, ...wording } = advice;
  const missing = findMissingProgram(outcome, sandbox);
  const text = describeOutcome(outcome, pager.end(), {
    ...wording,
    timeoutMs: command.limits.timeoutMs,
    ...(missing !== undefined && { hint: onMissing(missing) }),
  });
  return outcome.ended === "exited" && outcome.exitCode === 0 ? answer(text) : fault(text);
}

export interface Wording extends Pick<Advice, "moreTime" | "marksJson"> {
  readonly timeoutMs: number;
  /** What to do about how it ended. */
  readonly hint?: string;
}

export function describeOutcome(
  outcome: CommandOutcome,
  { stdout, stderr, notes }: PagedOutput,
  { timeoutMs, moreTime, marksJson = false, hint }: Wording,
): string {
  const error = show(stderr, Math.max(ERROR_SHARE, MAX_CHARACTERS - stdout.characters));
  const output = show(stdout, MAX_CHARACTERS - error.length);
  const isJson = marksJson && readJsonOutput(output) !== undefined;
  return [
    describeEnding(outcome, timeoutMs, moreTime),
    ...(hint === undefined ? [] : [hint]),
    ...notes,
    output === "" ? "stdout: (empty)" : `stdout${isJson ? " (JSON)" : ""}:\n${output.trimEnd()}`,
    ...(error === "" ? [] : [`stderr:\n${error.trimEnd()}`]),
  ].join("\n");
}

function describeEnding(
  { ended, exitCode, signal, reason }: CommandOutcome,
  timeoutMs: number,
  moreTime: string,
): string {
  switch (ended) {
    case "exited":
      return `Exit code ${exitCode}.`;
    case "signalled":
      return `Exit code ${exitCode}: the command was ended by ${signal}.`;
    case "timeout":
      return `The command was stopped after ${timeoutMs} ms, with everything it had started. ${moreTime}`;
    case "cancelled":
      return "The command was stopped, because the run was.";
    case "limit":
      return `The command was stopped at a limit: ${reason}`;
    case "refused":
      return `The command was not run. ${reason}`;
  }
}

function show({ head, tail, characters }: PagedStream, max: number): string {
  if (characters <= max) return head;
  const end = Math.floor(max / 3);
  const left = characters - max;
  return `${head.slice(0, max - end)}\n[… ${left} characters left out …]\n${tail.slice(-end)}`;
}
