/**
 * One provider process from start to end, started by the one process runner without a shell. Its standard output goes
 * to the caller; the last lines of standard error are kept. How it ended becomes a fault, or none.
 */
import type { Writable } from "node:stream";
import { cleanText } from "@metier/base/text";
import {
  type CommandOutcome,
  findByEnvironment,
  killFound,
  listProcessTree,
  runProcess,
} from "@metier/sandbox";
import type { Redactor } from "@metier/sandbox/secrets";
import { answerFault, type FaultAnswer } from "../capability.ts";
import { type Launch, type ProgramWords, providerWords, SECRET_VARIABLE } from "./provider-launch.ts";

interface ProcessUse {
  readonly stdin: string | ((stdin: Writable) => void);
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly isBackground?: boolean | undefined;
  onStdout(chunk: Uint8Array): void;
}

interface EndedProcess extends Pick<CommandOutcome, "ended" | "exitCode" | "signal" | "reason"> {
  /** The last complete lines of standard error. */
  readonly said: string;
}

/** How much of standard error a message shows; the broker truncates longer messages at the end. */
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
    ...(typeof stdin === "string" ? { stdin } : { onStdin: stdin }),
    limits: { timeoutMs, maxOutputBytes: TAIL_BYTES },
    passesOutput: true,
    isBackground,
    signal,
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

/** A process that lives between calls and does not keep this one alive. */
export interface BackgroundProcess {
  write(text: string): void;
  kill(): void;
  readonly exited: Promise<EndedProcess>;
  /** Closes its standard input so that it exits, and stops it if it does not. */
  end(): Promise<void>;
}

const END_GRACE_MS = 2000;
/** The longest delay a timer supports. */
const LIFETIME_MS = 2 ** 31 - 1;

export function startProvider(launch: Launch, onStdout: ProcessUse["onStdout"]): BackgroundProcess {
  let requests: Writable | undefined;
  const killer = new AbortController();
  const exited = runProvider(launch, {
    stdin: (stream) => {
      requests = stream;
    },
    timeoutMs: LIFETIME_MS,
    signal: killer.signal,
    isBackground: true,
    onStdout,
  });
  return {
    write: (text) => void requests?.write(text),
    kill: () => killer.abort(),
    exited,
    async end() {
      requests?.end();
      const impatience = setTimeout(() => killer.abort(), END_GRACE_MS);
      await exited;
      clearTimeout(impatience);
    },
  };
}

/** Why a process ended unexpectedly. */
export function describeEnd(
  name: string,
  ending: EndedProcess,
  timeoutMs: number = LIFETIME_MS,
  words: ProgramWords = providerWords(name),
): FaultAnswer {
  if (ending.ended === "cancelled")
    return answerFault("capability_cancelled", `The call to the provider \`${name}\` was cancelled.`);
  const said = ending.said === "" ? "" : ` Its standard error ends with:\n${ending.said}`;
  return answerFault(
    "capability_backend_unavailable",
    `${words.subject} ${howEnded(ending, timeoutMs)}.${said}`,
    { hint: hintFor(ending, words) },
  );
}

function howEnded({ ended, exitCode, signal, reason }: EndedProcess, timeoutMs: number): string {
  switch (ended) {
    case "exited":
      return `exited with code ${exitCode}`;
    case "signalled":
      return `was stopped by ${signal}`;
    case "timeout":
      return `did not answer within ${timeoutMs / 1000} seconds and was stopped, with everything it had started`;
    case "limit":
      return `was stopped at a limit: ${withoutDot(reason)}`;
    case "refused":
      return `was not started: ${withoutDot(reason)}`;
    case "cancelled":
      return "was cancelled";
  }
}

function hintFor({ ended }: EndedProcess, { table, advice }: ProgramWords): string {
  if (ended === "refused") return `Fix \`command\` in \`${table}\`.`;
  if (ended === "timeout") return `Try again, or raise \`timeout-seconds\` in \`${table}\`.`;
  return advice;
}

function withoutDot(sentence = ""): string {
  return sentence.replace(/\.$/, "");
}

/** Drops the truncated line of an output: half of a secret would not be recognized. */
function withoutFirstLine(tail: Buffer): string {
  return tail
    .subarray(tail.indexOf("\n") + 1 || tail.length)
    .toString()
    .trim();
}

/**
 * Finds what a stopped process moved out of its process tree: processes with this provider's secret that are no longer
 * our descendants. A process that exited by itself may leave something running, such as a key agent.
 */
function endStrays({ env }: Launch): void {
  const secret = env[SECRET_VARIABLE];
  if (secret === undefined) return;
  killFound(() => {
    const found = findByEnvironment(`${SECRET_VARIABLE}=${secret}`);
    const ours = found.length === 0 ? [] : listProcessTree(process.pid);
    return found.filter((pid) => !ours.includes(pid));
  });
}

const MAX_MESSAGE = 4000;

/**
 * An error message from a foreign program in the form that may be passed on: without secrets and invisible characters,
 * and short. Truncated only at the end: half of a secret would not be recognized.
 */
export function tidyFault({ fault }: FaultAnswer, ...redactors: readonly Redactor[]): FaultAnswer {
  const { text } = cleanText(redactors.reduce((part, { redact }) => redact(part), fault.message));
  const message = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
  return { ok: false, fault: { ...fault, message } };
}
