/**
 * A second thread that reads ahead: of the folders at the top of a large root it takes those at the end, while this one
 * begins at the front, until they meet. What it has read comes back as entries of an index, so that the search and all
 * that follows are the same as with one thread. Where it cannot be had, this thread does everything.
 */
import { dirname } from "node:path";
import type { MessagePort, Worker } from "node:worker_threads";
import { findThreadProgram } from "@metier/base/files";
import type { Profile } from "../validate/profiles.ts";
import { type OldIndex, openEntries } from "./index-file.ts";

export interface ReadAhead {
  /** What is known of a folder at the top; nothing where this thread is to read it itself. */
  turn(name: string): Turn | undefined;
}

/** The entries of the folder and those beside it, and whether they are given for the first time. */
interface Turn {
  readonly entries: OldIndex;
  readonly isFirst: boolean;
}

export type StartReadAhead = (work: AheadWork) => ReadAhead | undefined;

interface AheadWork {
  readonly root: string;
  /** At the top of it, in the order of the search. */
  readonly folders: readonly string[];
  readonly profile: Profile;
}

/** What the other thread is given. */
export interface AheadTask extends AheadWork {
  readonly port: MessagePort;
  /** One number for each batch of folders: whose it is. */
  readonly states: Int32Array;
  /** Where the process keeps compiled code, if it does: a thread has to be told. */
  readonly compileCache?: string | undefined;
}

export interface AheadAnswer {
  readonly batch: number;
  readonly entries: string;
}

/** Folders that are taken together. */
export const AHEAD_BATCH = 32;

export const STATE = { free: 0, here: 1, there: 2, done: 3, failed: 4 } as const;

/** A thread that says nothing for so long is not waited for: what it was to read is read here. */
const PATIENCE_MS = 10_000;

export const startReadAhead: StartReadAhead = (work) => {
  const program = findThreadProgram("skills/src/catalog/ahead-thread.ts", "dist/ahead/ahead-thread.js");
  if (program === undefined) return undefined;
  const batches = Math.ceil(work.folders.length / AHEAD_BATCH);
  const states = new Int32Array(new SharedArrayBuffer(batches * Int32Array.BYTES_PER_ELEMENT));
  const port = startThread(program, { ...work, states });
  return port && followThread(port, work.folders, states);
};

function startThread(program: string, task: Omit<AheadTask, "port">): MessagePort | undefined {
  const threads = process.getBuiltinModule("node:worker_threads");
  const { port1, port2 } = new threads.MessageChannel();
  try {
    const kept = process.getBuiltinModule("node:module").getCompileCacheDir(); // In a folder for this version of Node.
    const workerData: AheadTask = { ...task, port: port2, compileCache: kept && dirname(kept) };
    const thread: Worker = new threads.Worker(program, {
      workerData,
      transferList: [port2],
      execArgv: [], // What this process was started with (`--eval`, `--inspect-brk`) is not meant for it.
      trackUnmanagedFds: false, // Each file is closed where it was opened; noting them costs time.
    });
    // A thread that fails leaves its batches, and nobody waits for it to end.
    thread.on("error", () => undefined);
    thread.unref();
    port1.unref();
    return port1;
  } catch {
    return undefined; // The system gives no more threads.
  }
}

function followThread(port: MessagePort, folders: readonly string[], states: Int32Array): ReadAhead {
  const { receiveMessageOnPort } = process.getBuiltinModule("node:worker_threads");
  const answers = new Map<number, AheadAnswer>();
  let place = 0;
  let batch = -1;
  let turn: Turn | undefined;

  const takeBatch = (number: number): Turn | undefined => {
    if (Atomics.compareExchange(states, number, STATE.free, STATE.here) === STATE.free) return undefined;
    Atomics.wait(states, number, STATE.there, PATIENCE_MS);
    for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
      const answer = got.message as AheadAnswer;
      answers.set(answer.batch, answer);
    }
    const text = answers.get(number)?.entries;
    answers.delete(number);
    return text === undefined ? undefined : { entries: openEntries(text), isFirst: true };
  };
  return {
    turn(name) {
      const at = folders.indexOf(name, place);
      if (at === -1) return undefined;
      place = at;
      const number = Math.floor(at / AHEAD_BATCH);
      if (number !== batch) turn = takeBatch(number);
      else if (turn) turn = { ...turn, isFirst: false };
      batch = number;
      return turn;
    },
  };
}
