/**
 * What a command gets: where it writes, the process environment, and its exit code so far. Only `main.ts` touches
 * `process`.
 */
import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import type { Diagnostic } from "@metier/base/diagnostic";
import { CancelledError, EXIT, type ExitCode, UsageError } from "@metier/base/errors";
import { nearestNames } from "@metier/base/text";
import type { CommandContext } from "@stricli/core";
import type { CommonFlags } from "./commands/define.ts";
import { diagnosticsText } from "./output/diagnostics.ts";
import { fitText } from "./output/fit-text.ts";
import { type Style, styleFor } from "./output/style.ts";

export interface CliStream {
  write(text: string): void;
  /** A person reads it, through a program that obeys control characters. */
  readonly isTerminal?: boolean;
  /** The terminal's current width. */
  readonly columns?: number | undefined;
}

/** The world outside the command line, so that tests can replace it. */
export interface CliIo {
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  /** Piped input; absent in a terminal. */
  input?(): Readable | undefined;
  readonly cwd: string;
  /** Node and the file it was started with. */
  readonly program?: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Stdin and stdout are a terminal, so questions may be asked. */
  readonly interactive: boolean;
  readonly color: boolean;
  /** Asks in the terminal; called only if interactive. The signal withdraws the question. */
  ask(question: string, signal?: AbortSignal): Promise<string>;
  /** Drops text typed so far: it can't be meant for a question that wasn't shown yet. */
  dropTyped?(): Promise<void>;
  /** Reads what a person types, with an editor over `history`, newest first; called only if interactive. */
  readLine(prompt: string, history: readonly string[], complete?: CompleteText): Promise<LineInput>;
  /** Calls back once when the user wants the program to end. Returns a function that stops listening. */
  onInterrupt(end: () => void): () => void;
  /** The program ends with this command, so memory matters more than long-term speed. */
  saveMemory?(): void;
  /** Ends the program at once, with everything it started. */
  quit?(code: ExitCode): void;
}

/** How Tab can complete the text before the cursor. */
export interface Completion {
  /** Where the completed part starts. */
  readonly from: number;
  /** What can replace the rest of the text. */
  readonly choices: readonly string[];
}

export type CompleteText = (before: string) => Completion | Promise<Completion>;

/** What a person did at a prompt. */
export type LineInput =
  /** One line, or several. */
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C, and the text typed so far. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Ctrl-D. */
  | { readonly kind: "end" };

export interface CliContext extends CommandContext {
  readonly io: CliIo;
  /** Set by a command whose outcome isn't simply "done". */
  code: ExitCode;
  /** What a command threw. */
  fault?: unknown;
  /** The values of `--path` that were already reported as unusable. */
  toldPaths?: Set<string>;
}

export function out(context: CliContext, text: string): void {
  if (text !== "") context.io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** A terminal would break long lines in the middle of a word. */
export function err(context: CliContext, text: string): void {
  const fitted = fit(context, text, context.io.stderr);
  if (text !== "") context.io.stderr.write(text.endsWith("\n") ? fitted : `${fitted}\n`);
}

/** In a terminal, wraps lines to its width; elsewhere they stay whole. */
export function fit({ io }: CliContext, text: string, stream: CliStream = io.stdout): string {
  const columns = columnsOf(stream);
  return columns === undefined ? text : fitText(text, columns);
}

/** A terminal that doesn't know its width says 0. */
const LEAST_COLUMNS = 20;

/** For a terminal that is wide enough for words. */
export function columnsOf({ isTerminal, columns = 0 }: CliStream): number | undefined {
  return isTerminal && columns >= LEAST_COLUMNS ? columns : undefined;
}

/** With `--json`, stdout is this one value. */
export function outJson(context: CliContext, value: unknown): void {
  out(context, JSON.stringify(value, undefined, 2));
}

/** A command's output: one JSON value, or text for a person with the diagnostics below it. */
export function reply(
  context: CliContext,
  { json }: Pick<CommonFlags, "json">,
  value: unknown,
  text: (style: Style) => string,
  diagnostics: readonly Diagnostic[] = [],
): void {
  if (json) {
    outJson(context, value);
    return;
  }
  const style = styleFor(context.io.color);
  out(context, text(style));
  err(context, diagnosticsText(diagnostics, style));
}

/** What takes this long has hundreds of skills or more. */
const MANY_AFTER_MS = 30;

/** Work on skills that the process ends with: if there are many, V8 is set for that. */
export async function savingMemory<Value>({ io }: CliContext, work: () => Promise<Value>): Promise<Value> {
  const timer = setTimeout(() => io.saveMemory?.(), MANY_AFTER_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** Keeps the first outcome that isn't "done". */
export function endWith(context: CliContext, code: ExitCode): void {
  if (context.code === EXIT.done) context.code = code;
}

interface Interrupts {
  /** As if Ctrl-C had been pressed, for a question that has read it. */
  interrupt(): void;
  /** Nobody listens any more. */
  release(): void;
}

export const STOPPING = "Stopping. Press Ctrl-C again to quit at once.";

/** The first Ctrl-C asks for an end, which may take a moment; the second ends this process and all it started. */
export function listenTwice(
  io: Pick<CliIo, "onInterrupt" | "quit">,
  stop: () => void,
  beforeQuit: () => void = () => undefined,
): Interrupts {
  let isStopping = false;
  const interrupt = (): void => {
    if (isStopping) return;
    isStopping = true;
    release();
    release = io.onInterrupt(() => {
      beforeQuit();
      io.quit?.(EXIT.cancelled);
    });
    stop();
  };
  let release = io.onInterrupt(interrupt);
  return { interrupt, release: () => release() };
}

/** Does `work` with a signal that aborts when the user wants the program to end. */
export async function withInterrupt<Value>(
  { io }: CliContext,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController();
  const { release } = listenTwice(io, () => stop.abort());
  try {
    return await work(stop.signal);
  } finally {
    release();
  }
}

/** Picks one of a command's actions; refuses any other name and lists the usages. */
export function requireAction<Action>(
  command: string,
  actions: Readonly<Record<string, Action>>,
  name: string,
  usages: string,
): Action {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return action;
  const [near] = nearestNames(name, Object.keys(actions), 1);
  throw new UsageError(`\`${name}\` is not an action of \`metier ${command}\`.`, {
    hint: near === undefined ? `Use ${usages}.` : `Did you mean \`${near}\`?`,
  });
}

/** What a person typed, in lower case. */
export async function askWord({ io }: Pick<CliContext, "io">, question: string): Promise<string> {
  return (await io.ask(question)).trim().toLowerCase();
}

/** The result of `work`, unless the user ends the program first. */
export async function untilInterrupted<Value>(
  { io }: CliContext,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const unlisten = io.onInterrupt(() => {
    const fault = new CancelledError("Cancelled.");
    stop.abort(fault);
    reject(fault);
  });
  try {
    return await Promise.race([work(stop.signal), promise]);
  } finally {
    unlisten();
  }
}

const MAX_BYTES = 10 * 1024 * 1024;

/** Piped input as text. `asked` is what the user typed to have it read: `-`, or `--input -`. */
export async function readPiped({ io }: CliContext, asked: string, most = MAX_BYTES): Promise<string> {
  const piped = io.input?.();
  if (piped === undefined) {
    throw new UsageError(`\`${asked}\` reads piped input, but nothing is piped in.`, {
      hint: "Pipe something in, as in `command | metier …`.",
    });
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of piped) {
    const part = Buffer.from(chunk as Uint8Array | string);
    bytes += part.length;
    if (bytes > most) {
      throw new UsageError(`Stdin has more than ${most / 1024 / 1024} MB.`, {
        hint: "Pipe in less, or put it in a file and pass its path.",
      });
    }
    chunks.push(part);
  }
  const whole = Buffer.concat(chunks);
  if (isUtf8(whole)) return whole.toString("utf8");
  throw new UsageError("Stdin is not UTF-8 text.", {
    hint: "Convert it first, or put it in a file and pass its path.",
  });
}
