/** A run that is under way: what it says while it works, how it stands, how to end it. */
import type { RunEvent, RunStatus } from "../events/run-event.ts";
import type { RunResult } from "./run-result.ts";

export interface RunHandle {
  readonly runId: string;
  readonly status: "running" | RunStatus;
  /** Never rejects for what happens in a run. */
  readonly result: Promise<RunResult>;
  /** Stops the model call and every process of the run. */
  cancel(): void;
  /** The events from now on, until the run has ended. */
  events(): AsyncIterableIterator<RunEvent>;
}

export interface RunWork {
  readonly signal: AbortSignal;
  onEvent(event: RunEvent): void;
}

export function startHandle(
  runId: string,
  caller: AbortSignal | undefined,
  work: (work: RunWork) => Promise<RunResult>,
): RunHandle {
  const stop = new AbortController();
  const listeners = new Set<(event: RunEvent | undefined) => void>();
  const tell = (event: RunEvent | undefined): void => {
    for (const listener of listeners) listener(event);
  };
  let status: RunHandle["status"] = "running";
  const signal = caller ? AbortSignal.any([caller, stop.signal]) : stop.signal;
  const result = work({ signal, onEvent: tell }).then((ended) => {
    status = ended.status;
    tell(undefined);
    return ended;
  });
  result.catch(() => {
    status = "failed";
    tell(undefined); // A fault of the host reaches whoever waits for the result.
  });
  return {
    runId,
    get status() {
      return status;
    },
    result,
    cancel: () => stop.abort(new Error("The run was cancelled.")),
    events: () => follow(listeners, () => status !== "running"),
  };
}

/** Listens from the call on, not only from the first event that is asked for. */
function follow(
  listeners: Set<(event: RunEvent | undefined) => void>,
  hasEnded: () => boolean,
): AsyncIterableIterator<RunEvent> {
  const waiting: (RunEvent | undefined)[] = hasEnded() ? [undefined] : [];
  let wake: () => void = () => undefined;
  const listener = (event: RunEvent | undefined): void => {
    waiting.push(event);
    wake();
  };
  listeners.add(listener);
  async function* read(): AsyncIterableIterator<RunEvent> {
    try {
      while (true) {
        while (waiting.length > 0) {
          const event = waiting.shift();
          if (event === undefined) return;
          yield event;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      listeners.delete(listener);
    }
  }
  return read();
}
