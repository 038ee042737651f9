/** What a command holds: where it writes, where it stands, and how it ends. Only `main.ts` touches `process`. */
import type { Readable } from "node:stream";
import type { CommandContext } from "@stricli/core";
import { EXIT, type ExitCode } from "../foundation/exit-codes.ts";

export interface CliStream {
  write(text: string): void;
  /** A person looks at it, through a program that obeys control characters. */
  readonly isTerminal?: boolean;
}

/** The world outside the command line, so that tests can stand in for it. */
export interface CliIo {
  readonly stdout: CliStream;
  readonly stderr: CliStream;
  /** What is piped into the command; nothing in a terminal. */
  input?(): Readable | undefined;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard input and output are a terminal: questions may be asked. */
  readonly interactive: boolean;
  readonly color: boolean;
  /** Asks in the terminal; called only when interactive. The signal takes the question back. */
  ask(question: string, signal?: AbortSignal): Promise<string>;
  /** Reads what a person types, with an editor over `history`, newest first; called only when interactive. */
  readLine(prompt: string, history: readonly string[]): Promise<LineInput>;
  /** Calls back, once, when the user wants the program to end. The answer stops listening. */
  onInterrupt(end: () => void): () => void;
}

/** What a person did at a prompt. */
export type LineInput =
  /** One line, or several that were pasted at once. */
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C, and what had been typed. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Ctrl-D. */
  | { readonly kind: "end" };

export interface CliContext extends CommandContext {
  readonly io: CliIo;
  /** Set by a command whose answer is not simply "done". */
  code: ExitCode;
  /** What a command threw. */
  fault?: unknown;
}

export function out(context: CliContext, text: string): void {
  if (text !== "") context.io.stdout.write(text.endsWith("\n") ? text : `${text}\n`);
}

export function err(context: CliContext, text: string): void {
  if (text !== "") context.io.stderr.write(text.endsWith("\n") ? text : `${text}\n`);
}

/** With `--json`, standard output is this one value. */
export function outJson(context: CliContext, value: unknown): void {
  out(context, JSON.stringify(value, undefined, 2));
}

/** The first answer that is not "done" stays. */
export function endWith(context: CliContext, code: ExitCode): void {
  if (context.code === EXIT.done) context.code = code;
}
