/**
 * One process of a provider, from its start to its end: started by the one process runner, without a shell. Standard output
 * goes to whoever asks; of standard error the last lines are kept. How it ended is a fault to be told, or none.
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

/** A process that lives on between calls, and does not keep us running. */
export interface BackgroundProcess {
  write(text: string): void;
  kill(): void;
  readonly exited: Promise<EndedProcess>;
  /** Lets it end by closing its standard input, and ends it if it does not. */
  end(): Promise<void>;
}

const END_GRACE_MS = 2000;
/** The longest that a timer takes. */
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

/** Why a process ended that should not have, or not so. */
export function describeEnd(
  name: string,
  ending: EndedProcess,
  timeoutMs: number = LIFETIME_MS,
  words: ProgramWords = providerWords(name),
): FaultAnswer {
  if (ending.ended === "cancelled")
    return answerFault("capability_cancelled", `The call of the provider \`${name}\` was cancelled.`);
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
    const ours = found.length === 0 ? [] : listProcessTree(process.pid);
    return found.filter((pid) => !ours.includes(pid));
  });
}

const MAX_MESSAGE = 4000;

/**
 * What a program of someone else says of a fault, as it may be passed on: no secret, nothing that cannot be seen, not long.
 * Cut at the end alone: half of a secret would not be known as one.
 */
export function tidyFault({ fault }: FaultAnswer, ...redactors: readonly Redactor[]): FaultAnswer {
  const { text } = cleanText(redactors.reduce((part, { redact }) => redact(part), fault.message));
  const message = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
  return { ok: false, fault: { ...fault, message } };
}
