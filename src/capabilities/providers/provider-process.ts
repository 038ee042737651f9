/**
 * One process of a provider, from its start to its end: started by the one process runner, without a shell. Standard output
 * goes to whoever asks; of standard error the last lines are kept. How it ended is a fault to be told, or none.
 */
import type { Readable } from "node:stream";
import { findByEnvironment, killFound, listTree } from "../../sandbox/process-tree.ts";
import { runProcess } from "../../sandbox/run-process.ts";
import type { CommandOutcome } from "../../sandbox/sandbox.ts";
import { refuse } from "../capability-fault.ts";
import { type ProgramWords, providerWords } from "./program-words.ts";
import { type Launch, SECRET_VARIABLE } from "./provider-launch.ts";
import type { Refused } from "./tidy-fault.ts";

export interface ProcessUse {
  readonly stdin: string | Readable;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** It lives on between calls, and does not keep us running. */
  readonly isBackground?: boolean;
  onStdout(chunk: Uint8Array): void;
}

export interface EndedProcess extends Pick<CommandOutcome, "ended" | "exitCode" | "signal" | "reason"> {
  /** Of standard error, the last whole lines. */
  readonly said: string;
}

/** What a message shows of standard error; the broker cuts longer messages at their end. */
const TAIL_BYTES = 700;
const HAD_TO_BE_ENDED: ReadonlySet<CommandOutcome["ended"]> = new Set(["timeout", "cancelled", "limit"]);

export async function runProvider(launch: Launch, use: ProcessUse): Promise<EndedProcess> {
  const { program, args, env, cwd } = launch;
  const { stdin, timeoutMs, signal, isBackground = false } = use;
  let tail = Buffer.alloc(0);
  let isCut = false;
  const outcome = await runProcess({
    program,
    args,
    env,
    cwd,
    stdin,
    limits: { timeoutMs, maxOutputBytes: TAIL_BYTES },
    passesOutput: true,
    isBackground,
    ...(signal && { signal }),
    onOutput(stream, chunk) {
      if (stream === "stdout") return use.onStdout(chunk);
      const both = Buffer.concat([tail, chunk]);
      isCut ||= both.length > TAIL_BYTES;
      tail = both.subarray(-TAIL_BYTES);
    },
  });
  if (HAD_TO_BE_ENDED.has(outcome.ended)) endStrays(launch);
  return { ...outcome, said: isCut ? withoutFirstLine(tail) : tail.toString().trim() };
}

/** Why a process ended that should not have, or not so. */
export function describeEnd(
  name: string,
  ending: EndedProcess,
  timeoutMs: number,
  words: ProgramWords = providerWords(name),
): Refused {
  if (ending.ended === "cancelled")
    return refuse("capability_cancelled", `The call of the provider \`${name}\` was cancelled.`);
  const said = ending.said === "" ? "" : ` Its standard error ends with:\n${ending.said}`;
  return refuse("capability_backend_unavailable", `${words.subject} ${howEnded(ending, timeoutMs)}.${said}`, {
    hint: hintFor(ending, words),
  });
}

function howEnded({ ended, exitCode, signal, reason }: EndedProcess, timeoutMs: number): string {
  switch (ended) {
    case "exited":
      return `ended with exit code ${exitCode}`;
    case "signalled":
      return `was ended by ${signal}`;
    case "timeout":
      return `gave no answer within ${timeoutMs / 1000} seconds and was ended, with everything it had started`;
    case "limit":
      return `was ended at a limit: ${withoutDot(reason)}`;
    case "refused":
      return `was not started: ${withoutDot(reason)}`;
    case "cancelled":
      return "was cancelled";
  }
}

function hintFor({ ended }: EndedProcess, { table, advice }: ProgramWords): string {
  if (ended === "refused") return `Correct \`command\` in \`${table}\`.`;
  if (ended === "timeout") return `Try again, or set a larger \`timeout-seconds\` in \`${table}\`.`;
  return advice;
}

function withoutDot(sentence = ""): string {
  return sentence.replace(/\.$/, "");
}

/** Of an output that was cut, nothing of the line it was cut in: half of a secret there would not be known as one. */
function withoutFirstLine(tail: Buffer): string {
  return tail
    .subarray(tail.indexOf("\n") + 1 || tail.length)
    .toString()
    .trim();
}

/**
 * What a process that had to be ended has put out of its tree: whoever holds this provider's secret and descends from us no
 * longer. A process that ended by itself may leave something running, such as an agent for keys.
 */
function endStrays({ env }: Launch): void {
  const secret = env[SECRET_VARIABLE];
  if (secret === undefined) return;
  killFound(() => {
    const found = findByEnvironment(`${SECRET_VARIABLE}=${secret}`);
    const ours = found.length === 0 ? [] : listTree(process.pid);
    return found.filter((pid) => !ours.includes(pid));
  });
}
