/**
 * A second thread for large roots. When there is no index, it lists folders and reads files ahead of the search; when there
 * is one, it compares stamps. Everything else stays the same as with one thread, and where no second thread is available,
 * this one does all the work.
 */
import type { Fetched } from "./fetched-batch.ts";
import { startNativeThread } from "./native-thread.ts";
import { startNodeThread } from "./node-thread.ts";
import type { AheadWork, StampWork } from "./thread-tasks.ts";

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

/** Compares the stamps of an index, while this thread goes through it from the front. */
export interface StampCheck {
  /** Of the entry at a place: `undefined` where this thread must look itself; `false` as soon as anything has changed. */
  isUnchanged(place: number): boolean | undefined;
  /** Nothing more is asked. Whether all that this thread did not look at itself is unchanged. */
  end(): boolean;
}

/** From how many folders on a thread is worth its start: a native one takes less than a millisecond, one of Node 25. */
export const NATIVE_FROM = 16;
const NODE_FROM = 2000;

/** Started before its task is known: one of Node takes as long to start as this thread takes to find out. */
export function startSecondThread(folders: number): SecondThread | undefined {
  return startNativeThread() ?? (folders < NODE_FROM ? undefined : startNodeThread());
}
