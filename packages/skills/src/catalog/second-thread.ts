/**
 * A second thread for large roots. When there is no index, it lists folders and reads files ahead of the search; when there
 * is one, it checks stamps from the end while this thread checks them from the front. Everything else stays the same as with
 * one thread, and where no second thread is available, this one does all the work.
 */
import { dirname } from "node:path";
import type { MessagePort, Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import { type Fetched, type FetchedBatch, openFetched } from "./fetched-batch.ts";
import { CHANGED, PROGRESS } from "./stamps.ts";

export interface ReadAhead {
  /** What the thread fetched of a top folder and its neighbors; nothing if this thread must read it. */
  turn(name: string): Fetched | undefined;
}

export type StartReadAhead = (work: AheadWork) => ReadAhead | undefined;

interface AheadWork {
  readonly root: string;
  /** At the top of it, in the order of the search. */
  readonly folders: readonly string[];
}

/** Compares stamps from the end of an index, while this thread goes through it from the front. */
interface StampCheck {
  /** Of the entry at a place: `undefined` where this thread must look itself; `false` as soon as anything has changed. */
  isUnchanged(place: number): boolean | undefined;
  /** The other thread has nothing left to do. */
  end(): void;
}

export type StartStampCheck = (work: StampWork) => StampCheck | undefined;

interface StampWork {
  readonly root: string;
  /** The index, up to its last entry. */
  readonly text: string;
  /** Where its first entry stands. */
  readonly start: number;
  readonly writtenAt: number;
  /** How many skills it has. */
  readonly found: number;
}

export interface StampTask extends StampWork, ThreadTask {
  /** From which position the other thread found no change, or `CHANGED`; and which position this one has reached. */
  readonly places: Int32Array;
}

interface ThreadTask {
  /** Where the process keeps compiled code, if it does: a thread has to be told. */
  readonly compileCache?: string | undefined;
}

export interface FetchTask extends AheadWork, ThreadTask {
  readonly port: MessagePort;
  /** One number per batch of folders: who owns it. The last number is the batch that the search has reached. */
  readonly states: Int32Array;
}

export interface AheadAnswer {
  readonly batch: number;
  readonly fetched: FetchedBatch;
}

/** Folders that are fetched together. */
export const AHEAD_BATCH = 32;

export const STATE = { free: 0, here: 1, there: 2, done: 3 } as const;

/** A thread that is silent for this long is not waited for: this one reads its part. */
const PATIENCE_MS = 10_000;

export const startReadAhead: StartReadAhead = (work) => {
  const batches = Math.ceil(work.folders.length / AHEAD_BATCH);
  const states = new Int32Array(new SharedArrayBuffer((batches + 1) * Int32Array.BYTES_PER_ELEMENT));
  const threads = process.getBuiltinModule("node:worker_threads");
  const { port1, port2 } = new threads.MessageChannel();
  const task: FetchTask = { ...work, states, port: port2 };
  if (!startThread(task, [port2])) return undefined;
  port1.unref();
  return followThread(port1, work.folders, states);
};

export const startStampCheck: StartStampCheck = (work) => {
  const places = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  places[PROGRESS.checkedFrom] = work.text.length;
  const task: StampTask = { ...work, places };
  if (!startThread(task)) return undefined;
  return {
    isUnchanged(place) {
      const from = Atomics.load(places, PROGRESS.checkedFrom);
      if (from === CHANGED) return false;
      if (place >= from) return true;
      Atomics.store(places, PROGRESS.reached, place);
      return undefined;
    },
    end: () => void Atomics.store(places, PROGRESS.reached, work.text.length),
  };
};

function startThread(task: FetchTask | StampTask, transferList: readonly MessagePort[] = []): boolean {
  const program = findThreadProgram("skills/src/catalog/ahead-thread.ts", "dist/ahead/ahead-thread.js");
  if (program === undefined) return false;
  const threads = process.getBuiltinModule("node:worker_threads");
  try {
    const kept = process.getBuiltinModule("node:module").getCompileCacheDir(); // In a folder for this version of Node.
    const thread: Worker = new threads.Worker(program, {
      workerData: { ...task, compileCache: kept && dirname(kept) },
      transferList: [...transferList],
      execArgv: [], // This process's own options (`--eval`, `--inspect-brk`) are not meant for it.
      trackUnmanagedFds: false, // Each file is closed where it was opened; noting them costs time.
    });
    // A thread that fails leaves its batches, and nobody waits for it to end.
    thread.on("error", () => undefined);
    thread.unref();
    return true;
  } catch {
    return false; // The system gives no more threads.
  }
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
