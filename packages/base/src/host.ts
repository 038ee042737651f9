/**
 * Calls into the embedding program: its callbacks and its logger. They may be sync or async, throw or reject; none of
 * that may stop Metier, and every fault is reported to someone.
 */

/** The fields of a log line: names and numbers, never a prompt, an answer or a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The four log levels. */
export type LogLevel = "debug" | "info" | "warn" | "error";

type ConsoleLine = (message: string, fields: LogFields) => unknown;
type PinoLine = (fields: LogFields, message: string) => unknown;

/** Takes the message first, then the fields: `console`, or the program's own object. */
export type ConsoleLogger = Readonly<Record<LogLevel, ConsoleLine>> & { readonly child?: undefined };

/** Takes the fields first, then the message, like pino, bunyan and Fastify's `log`. winston fits here, too. */
export type PinoLogger = Readonly<Record<LogLevel, PinoLine>> & {
  readonly child: (...given: never[]) => unknown;
};

/**
 * Where Metier writes what an operator wants to know. A logger with `child` and without `log` (pino, bunyan, Fastify)
 * gets the fields first; any other (`console`, winston, your own object) gets the message first.
 */
export type Logger = ConsoleLogger | PinoLogger;

/** Writes one line to the program's logger, if there is one. Never throws. */
export type WriteLog = (level: LogLevel, fields: LogFields, message: string) => void;

export const LOG_LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The logger as one function; does nothing without a logger. */
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

/** winston also has `child`, but it has `log` too and wants the message first. */
function isPinoShaped(logger: Logger): boolean {
  return typeof logger.child === "function" && typeof (logger as { log?: unknown }).log !== "function";
}

/**
 * The one way to notify a function of the embedding program. Never throws and never waits: a fault, thrown or by a
 * rejected promise, goes to `onFault`. The returned promise settles with the call and never rejects; `undefined` if
 * the call finished at once.
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

/** The text of a fault, no matter what was thrown. */
export function sayFault(fault: unknown): string {
  if (fault instanceof Error) return fault.message;
  try {
    const json = typeof fault === "object" ? JSON.stringify(fault) : undefined;
    return json === undefined || json === "{}" ? String(fault) : json.slice(0, MOST_SHOWN);
  } catch {
    return "a value that can't be shown"; // Circular, without a prototype, or with a broken `toString`.
  }
}

/** Calls a callback that belongs to no run; its fault goes to the logger or, without one, becomes a process warning. */
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

/** `err` has the details; the message is one line. */
export function describeCallback(name: string, fault: unknown): string {
  return `The program's \`${name}\` failed: ${sayFault(fault)}`;
}

const warned = new Set<string>();

/** For a fault that nobody else can be told about: one process warning per callback. */
export function warnOnce(name: string, fault: unknown): void {
  if (warned.has(name)) return;
  warned.add(name);
  process.emitWarning(describeCallback(name, fault), { type: "MetierWarning", code: CALLBACK_FAILED });
}
