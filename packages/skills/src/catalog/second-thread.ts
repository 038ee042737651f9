/**
 * A second thread for large roots. When there is no index, it lists folders and reads files ahead of the search; when there
 * is one, it checks stamps from the end while this thread checks them from the front. Everything else stays the same as with
 * one thread, and where no second thread is available, this one does all the work.
 */
import type { MessagePort, Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import { type Fetched, type FetchedBatch, openFetched } from "./fetched-batch.ts";
import { CHANGED, PROGRESS } from "./stamps.ts";

/** Takes one task, or none. */
export interface SecondThread {
  readAhead(work: AheadWork): ReadAhead;
  checkStamps(work: StampWork): StampCheck;
  /** There is no task for it. */
  dismiss(): void;
}

export interface ReadAhead {
  /** What the thread fetched of a top folder and its neighbors; nothing if this thread must read it. */
  turn(name: string): Fetched | undefined;
}

export interface AheadWork {
  readonly root: string;
  /** At the top of it, in the order of the search. */
  readonly folders: readonly string[];
  /** Whether a usual file's head is enough. */
  readonly withHeads: boolean;
}

/** Compares stamps from the end of an index, while this thread goes through it from the front. */
export interface StampCheck {
  /** Of the entry at a place: `undefined` where this thread must look itself; `false` as soon as anything has changed. */
  isUnchanged(place: number): boolean | undefined;
  /** The other thread has nothing left to do. */
  end(): void;
}

export interface StampWork {
  readonly root: string;
  /** The index as it is on disk. */
  readonly bytes: SharedArrayBuffer;
  /** Where its first entry starts and its last one ends, in its text. */
  readonly start: number;
  readonly end: number;
  readonly writtenAt: number;
}

export interface StampTask extends StampWork {
  readonly kind: "check-stamps";
  /** From which position the other thread found no change, or `CHANGED`; and which position this one has reached. */
  readonly places: Int32Array;
}

export interface FetchTask extends Omit<AheadWork, "folders"> {
  readonly kind: "fetch";
  /** One text passes between threads faster than many. */
  readonly folders: string;
  readonly port: MessagePort;
  /** One number per batch of folders: who owns it. The last number is the batch that the search has reached. */
  readonly states: Int32Array;
}

export type ThreadTask = FetchTask | StampTask;

export interface AheadAnswer {
  readonly batch: number;
  readonly fetched: FetchedBatch;
}

/** Folders that are fetched together. */
export const AHEAD_BATCH = 32;

export const STATE = { free: 0, here: 1, there: 2, done: 3 } as const;

/** In no name of a folder. */
export const BETWEEN_FOLDERS = "/";

/** A thread that is silent for this long is not waited for: this one reads its part. */
const PATIENCE_MS = 10_000;

/** Starts it before its task is known: it takes as long to start as this thread takes to find out. */
export function startSecondThread(): SecondThread | undefined {
  const thread = startThread();
  let isFree = true;
  const give = (task: ThreadTask | undefined, ports: readonly MessagePort[] = []): void => {
    if (isFree) thread?.postMessage(task, [...ports]);
    isFree = false;
  };
  return (
    thread && {
      readAhead({ folders, ...work }) {
        const batches = Math.ceil(folders.length / AHEAD_BATCH);
        const states = new Int32Array(new SharedArrayBuffer((batches + 1) * Int32Array.BYTES_PER_ELEMENT));
        const { port1, port2 } = new (process.getBuiltinModule("node:worker_threads").MessageChannel)();
        give({ ...work, kind: "fetch", folders: folders.join(BETWEEN_FOLDERS), states, port: port2 }, [
          port2,
        ]);
        port1.unref();
        return followThread(port1, folders, states);
      },
      checkStamps(work) {
        const places = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
        places[PROGRESS.checkedFrom] = work.end;
        give({ ...work, kind: "check-stamps", places });
        return followStamps(places, work.end);
      },
      dismiss: () => give(undefined),
    }
  );
}

function startThread(): Worker | undefined {
  const program = findThreadProgram("skills/src/catalog/ahead-thread.ts", "dist/ahead/ahead-thread.js");
  if (program === undefined) return undefined;
  try {
    const thread = new (process.getBuiltinModule("node:worker_threads").Worker)(program, {
      execArgv: [], // This process's own options (`--eval`, `--inspect-brk`) are not meant for it.
      trackUnmanagedFds: false, // Each file is closed where it was opened; noting them costs time.
    });
    // A thread that fails leaves its batches, and nobody waits for it to end.
    thread.on("error", () => undefined);
    thread.unref();
    return thread;
  } catch {
    return undefined; // The system gives no more threads.
  }
}

function followStamps(places: Int32Array, end: number): StampCheck {
  return {
    isUnchanged(place) {
      const from = Atomics.load(places, PROGRESS.checkedFrom);
      if (from === CHANGED) return false;
      if (place >= from) return true;
      Atomics.store(places, PROGRESS.reached, place);
      return undefined;
    },
    end: () => void Atomics.store(places, PROGRESS.reached, end),
  };
}

function followThread(port: MessagePort, folders: readonly string[], states: Int32Array): ReadAhead {
  const { receiveMessageOnPort } = process.getBuiltinModule("node:worker_threads");
  const answers = new Map<number, FetchedBatch>();
  let place = 0;
  let batch = -1;
  let turn: Fetched | undefined;

  const takeBatch = (number: number): Fetched | undefined => {
    Atomics.store(states, states.length - 1, number);
    Atomics.notify(states, states.length - 1);
    if (Atomics.compareExchange(states, number, STATE.free, STATE.here) === STATE.free) return undefined;
    Atomics.wait(states, number, STATE.there, PATIENCE_MS);
    for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
      const { batch: fetchedBatch, fetched } = got.message as AheadAnswer;
      answers.set(fetchedBatch, fetched);
    }
    const fetched = answers.get(number);
    answers.delete(number);
    return fetched && openFetched(fetched);
  };
  return {
    turn(name) {
      const at = folders.indexOf(name, place);
      if (at === -1) return undefined;
      place = at;
      const number = Math.floor(at / AHEAD_BATCH);
      if (number !== batch) turn = takeBatch(number);
      batch = number;
      return turn;
    },
  };
}
