/**
 * The second thread as one of Node. While it is busy, this thread reads too; and where it fails, this thread does all the
 * work.
 */
import type { MessagePort, Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import { fetchBatch } from "./fetch-ahead.ts";
import {
  type BatchWriter,
  createBatchWriter,
  type Fetched,
  type FetchedBatch,
  followBatches,
  openFetched,
} from "./fetched-batch.ts";
import type { SecondThread, StampCheck } from "./second-thread.ts";
import {
  AHEAD_BATCH,
  type AheadAnswer,
  type AheadWork,
  BETWEEN_FOLDERS,
  batchOf,
  CHANGED,
  LEAD,
  PATIENCE_MS,
  PROGRESS,
  STATE,
  type ThreadTask,
} from "./thread-tasks.ts";

export function startNodeThread(): SecondThread | undefined {
  const thread = startThread();
  let isFree = true;
  const give = (task: ThreadTask | undefined, ...owned: readonly (MessagePort | ArrayBuffer)[]): void => {
    if (isFree) thread?.postMessage(task, owned);
    isFree = false;
  };
  return (
    thread && {
      readAhead({ folders, ...work }) {
        const batches = Math.ceil(folders.length / AHEAD_BATCH);
        const states = new Int32Array(new SharedArrayBuffer((batches + 1) * Int32Array.BYTES_PER_ELEMENT));
        const { port1, port2 } = new (process.getBuiltinModule("node:worker_threads").MessageChannel)();
        const names = folders.join(BETWEEN_FOLDERS);
        give({ ...work, kind: "fetch", folders: names, states, port: port2 }, port2);
        port1.unref();
        return followBatches(folders, followThread(port1, { ...work, folders }, states));
      },
      checkStamps(work) {
        const places = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
        places[PROGRESS.checkedFrom] = work.end;
        give({ ...work, kind: "check-stamps", places }, work.bytes);
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
    end() {
      Atomics.store(places, PROGRESS.reached, end);
      return true;
    },
  };
}

/** Takes the batches in their order. */
function followThread(
  port: MessagePort,
  work: AheadWork,
  states: Int32Array,
): (batch: number) => Fetched | undefined {
  const { receiveMessageOnPort } = process.getBuiltinModule("node:worker_threads");
  const { folders } = work;
  const reached = states.length - 1;
  const answers = new Map<number, FetchedBatch>();
  let writer: BatchWriter | undefined;

  const isFree = (number: number): boolean =>
    Atomics.compareExchange(states, number, STATE.free, STATE.here) === STATE.free;
  /** Where this thread would wait for the other one, it fetches another batch itself. Returns whether there was one. */
  const fetchAnother = (after: number): boolean => {
    for (let number = after + 1; number < reached && number <= after + LEAD; number++) {
      if (!isFree(number)) continue;
      writer ??= createBatchWriter();
      answers.set(number, fetchBatch(work, batchOf(folders, number), writer));
      return true;
    }
    return false;
  };
  return (number) => {
    Atomics.store(states, reached, number);
    Atomics.notify(states, reached);
    if (isFree(number)) return undefined;
    while (Atomics.load(states, number) === STATE.there) {
      if (fetchAnother(number)) continue;
      if (Atomics.wait(states, number, STATE.there, PATIENCE_MS) === "timed-out") return undefined;
    }
    for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
      const { batch: fetchedBatch, fetched } = got.message as AheadAnswer;
      answers.set(fetchedBatch, fetched);
    }
    const fetched = answers.get(number);
    answers.delete(number);
    return fetched && openFetched(fetched);
  };
}
