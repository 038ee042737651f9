/**
 * How we speak to the program around us: its callbacks and its logger. What it gives us may be sync or async, throw or
 * reject; none of that may end our work, and each fault is told to somebody.
 */

/** What stands beside the message of a log line: names and numbers, never a prompt, an answer or a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The four levels that are written. */
export type LogLevel = "debug" | "info" | "warn" | "error";

type ConsoleLine = (message: string, fields: LogFields) => unknown;
type PinoLine = (fields: LogFields, message: string) => unknown;

/** Takes the message first, then the fields: `console`, or an object of the program's own. */
export type ConsoleLogger = Readonly<Record<LogLevel, ConsoleLine>> & { readonly child?: undefined };

/** Takes the fields first, then the message, as pino, bunyan and Fastify's `log` do. winston fits here, too. */
export type PinoLogger = Readonly<Record<LogLevel, PinoLine>> & {
  readonly child: (...given: never[]) => unknown;
};

/**
 * Where Metier writes what an operator wants to know. One with `child` and without `log` (pino, bunyan, Fastify) gets
 * the fields first; any other one (`console`, winston, your own object) the message first.
 */
export type Logger = ConsoleLogger | PinoLogger;

/** One line for the program's logger, or for nobody. Never throws. */
export type WriteLog = (level: LogLevel, fields: LogFields, message: string) => void;

export const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The logger as one function; without a logger it does nothing. */
export function openLog(logger: Logger | undefined): WriteLog {
  if (logger === undefined) return () => undefined;
  const takesFieldsFirst = isPinoShaped(logger);
  return (level, fields, message) => {
    const line = (): unknown =>
      takesFieldsFirst
        ? (logger as PinoLogger)[level](fields, message)
        : (logger as ConsoleLogger)[level](message, fields);
    callHost(line, (fault) => warnOnce("logger", fault));
  };
}

/** winston has `child`, too, but also `log`, and wants the message first. */
function isPinoShaped(logger: Logger): boolean {
  return typeof logger.child === "function" && typeof (logger as { log?: unknown }).log !== "function";
}

/**
 * The one way to call a function of the embedding program that only hears of something. Never throws and never waits: a
 * fault, now or by the promise it answers with, goes to `onFault`. The answer settles with the call, and never rejects;
 * `undefined` when it was over at once.
 */
export function callHost(call: () => unknown, onFault: (fault: unknown) => void): Promise<void> | undefined {
  try {
    const answer = call();
    if (!isThenable(answer)) return undefined;
    return Promise.resolve(answer).then(() => undefined, onFault);
  } catch (fault) {
    onFault(fault);
    return undefined;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  if (typeof value !== "object" || value === null) return false;
  return typeof (value as { readonly then?: unknown }).then === "function";
}

const MOST_SHOWN = 2000;

/** What a fault says, whatever was thrown. */
export function sayFault(fault: unknown): string {
  if (fault instanceof Error) return fault.message;
  try {
    const json = typeof fault === "object" ? JSON.stringify(fault) : undefined;
    return json === undefined || json === "{}" ? String(fault) : json.slice(0, MOST_SHOWN);
  } catch {
    return "a value that cannot be shown"; // A circle, no prototype, or a broken `toString`.
  }
}

/** Calls a callback that belongs to no run; its fault goes to the logger or, without one, becomes a warning of the process. */
export type TellHost = <Given extends readonly unknown[]>(
  name: string,
  callback: ((...given: Given) => unknown) | undefined,
  ...given: Given
) => void;

export function openHostCalls(logger: Logger | undefined): TellHost {
  const log = openLog(logger);
  return (name, callback, ...given) => {
    if (callback === undefined) return;
    callHost(
      () => callback(...given),
      (fault) => {
        if (logger === undefined) warnOnce(name, fault);
        else
          log("error", { code: CALLBACK_FAILED, callback: name, err: fault }, describeCallback(name, fault));
      },
    );
  };
}

export const CALLBACK_FAILED = "host.callback-failed";

/** `err` beside it has the rest; a message is one line. */
export function describeCallback(name: string, fault: unknown): string {
  return `\`${name}\` of the program failed: ${sayFault(fault)}`;
}

const warned = new Set<string>();

/** For a fault that nobody else can be told of: once for each callback, by Node's own means. */
export function warnOnce(name: string, fault: unknown): void {
  if (warned.has(name)) return;
  warned.add(name);
  process.emitWarning(describeCallback(name, fault), { type: "MetierWarning", code: CALLBACK_FAILED });
}
