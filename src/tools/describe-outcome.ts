/**
 * How a command ended, as text for a model: exit code and both streams apart. Of a long output the model gets the
 * beginning and the end; the whole goes to a file in the work folder, without secrets, and the text names it.
 */
import { join } from "node:path";
import type { CommandOutcome } from "../sandbox/sandbox.ts";
import { writeFileInWorld } from "../sandbox/world-path.ts";
import { answer, fault, type ToolContext, type ToolOutput } from "./tool.ts";

/** Of both streams together. */
const MAX_CHARACTERS = 30_000;
/** What standard error may take of it when standard output is long, too. */
const ERROR_SHARE = MAX_CHARACTERS / 3;

type Surroundings = Pick<ToolContext, "callId" | "world" | "redact">;

export function describeOutcome(
  outcome: CommandOutcome,
  timeoutMs: number,
  { callId, world, redact = (text) => text }: Surroundings,
): ToolOutput {
  // Redacted before anything is cut, so that no half of a secret is left at a cut.
  const stdout = redact(outcome.stdout);
  const stderr = redact(outcome.stderr);
  const lines = [describeEnding(outcome, timeoutMs)];
  if (outcome.droppedBytes > 0) {
    lines.push(`${outcome.droppedBytes} bytes of output did not fit and are lost.`);
  }
  if (stdout.length + stderr.length > MAX_CHARACTERS) {
    lines.push(keepWhole(world, callId, joinStreams(stdout, stderr)));
  }
  const error = cut(stderr, Math.max(ERROR_SHARE, MAX_CHARACTERS - stdout.length));
  lines.push(joinStreams(cut(stdout, MAX_CHARACTERS - error.length), error));
  const text = lines.join("\n");
  return outcome.ended === "exited" && outcome.exitCode === 0 ? answer(text) : fault(text);
}

function describeEnding({ ended, exitCode, signal, reason }: CommandOutcome, timeoutMs: number): string {
  switch (ended) {
    case "exited":
      return `Exit code ${exitCode}.`;
    case "signalled":
      return `Exit code ${exitCode}: the command was ended by ${signal}.`;
    case "timeout":
      return `The command was stopped after ${timeoutMs} ms, with everything it had started. A longer \`timeout_ms\` gives it more time.`;
    case "cancelled":
      return "The command was stopped, because the run was.";
    case "limit":
      return `The command was stopped at a limit: ${reason}`;
    case "refused":
      return `The command was not run. ${reason}`;
  }
}

function joinStreams(stdout: string, stderr: string): string {
  const parts = [stdout === "" ? "stdout: (empty)" : `stdout:\n${stdout.trimEnd()}`];
  if (stderr !== "") parts.push(`stderr:\n${stderr.trimEnd()}`);
  return parts.join("\n");
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const tail = Math.floor(max / 3);
  const left = text.length - max;
  return `${text.slice(0, max - tail)}\n[… ${left} characters left out …]\n${text.slice(text.length - tail)}`;
}

function keepWhole(world: ToolContext["world"], callId: string, text: string): string {
  const name = callId.replace(/[^A-Za-z0-9_-]/g, "-").slice(0, 100);
  const written = writeFileInWorld(world, join(world.workDir, "bash-output", `${name}.txt`), text);
  return written.ok
    ? `The output is long; the whole is in \`${written.realPath}\`.`
    : `The output is long, and the whole could not be kept: ${written.message}`;
}
