/**
 * The embedding program's callbacks for a run, wrapped once: one that throws or rejects ends nothing. Its error becomes
 * a diagnostic of the run, once, and a line in the program's log.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Diagnostic } from "@metier/base/diagnostic";
import {
  CALLBACK_FAILED,
  callHost,
  describeCallback,
  type Logger,
  openLog,
  type TellHost,
  warnOnce,
} from "@metier/base/diagnostic";
import type { RunRequest } from "./run-request.ts";

/** Already wrapped: a nested run gets the callbacks of the run that started it, which reports their errors. */
const wrapped = new WeakSet<object>();

type Callbacks = Pick<RunRequest, "approve" | "askUser" | "confirm" | "onEvent" | "onProgress">;

export interface HostCallbacks {
  /** Calls a callback that only receives something. */
  readonly tell: TellHost;
  /** A request's callbacks, made safe; questions can still fail, which counts as a no. */
  wrap<Request extends Callbacks>(request: Request): Request;
  /** Receives errors from now on, and earlier ones. */
  listen(note: (diagnostic: Diagnostic) => void): void;
  /** Gives promises that are about to reject time to do so; doesn't wait for slower callbacks. */
  settle(): Promise<void>;
  /** Afterwards, errors go to the logger or the process: the result has been returned. */
  end(): void;
}

export function createHostCallbacks(runId: string, logger: Logger | undefined): HostCallbacks {
  const log = openLog(logger);
  const reported = new Set<string>();
  const early: Diagnostic[] = [];
  const pending = new Set<Promise<void>>();
  let hasEnded = false;
  let note = (diagnostic: Diagnostic): void => void early.push(diagnostic);
  const report = (name: string, fault: unknown): void => {
    if (reported.has(name)) return;
    reported.add(name);
    const message = describeCallback(name, fault);
    log("error", { code: CALLBACK_FAILED, runId, callback: name, err: fault }, message);
    if (!hasEnded) note({ code: CALLBACK_FAILED, severity: "warning", message, path: "", hint: HINT });
    else if (logger === undefined) warnOnce(name, fault);
  };
  const tell: TellHost = (name, callback, ...given) => {
    if (callback === undefined) return;
    const called = callHost(
      () => callback(...given),
      (fault) => report(name, fault),
    );
    if (called === undefined) return;
    pending.add(called);
    void called.finally(() => pending.delete(called));
  };
  const ask = <Given extends readonly unknown[], Answer>(
    name: string,
    question: (...given: Given) => Answer,
  ) => askHost(question, (fault) => report(name, fault));
  return {
    tell,
    wrap(request) {
      const { approve, askUser, confirm, onEvent, onProgress } = request;
      return {
        ...request,
        approve: typeof approve === "function" ? once(approve, () => ask("approve", approve)) : approve,
        askUser: askUser && once(askUser, () => ask("askUser", askUser)),
        confirm: confirm && once(confirm, () => ask("confirm", confirm)),
        onEvent: onEvent && once(onEvent, () => (event) => tell("onEvent", onEvent, event)),
        onProgress:
          onProgress && once(onProgress, () => (message) => tell("onProgress", onProgress, message)),
      };
    },
    listen(listener) {
      note = listener;
      for (const diagnostic of early.splice(0)) listener(diagnostic);
    },
    async settle() {
      if (pending.size > 0) await nextTurn();
    },
    end() {
      hasEnded = true;
    },
  };
}

/** A question: its error is reported, and also reaches whoever asks. */
function askHost<Given extends readonly unknown[], Answer>(
  question: (...given: Given) => Answer,
  report: (fault: unknown) => void,
): (...given: Given) => Promise<Awaited<Answer>> {
  return async (...given): Promise<Awaited<Answer>> => {
    try {
      return await question(...given);
    } catch (fault) {
      report(fault);
      throw fault;
    }
  };
}

function once<Callback extends (...given: never[]) => unknown>(
  callback: Callback,
  wrap: () => Callback,
): Callback {
  if (wrapped.has(callback)) return callback;
  const harmless = wrap();
  wrapped.add(harmless);
  return harmless;
}

const HINT =
  "The run itself is not affected. More errors from this callback in this run are not reported; handle them in the callback.";
