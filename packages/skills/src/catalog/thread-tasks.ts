/** What two threads that read one root say to each other: the tasks, and the numbers they share. */
import type { MessagePort } from "node:worker_threads";
import type { FetchedBatch } from "./fetched-batch.ts";

export type ThreadTask = FetchTask | StampTask;

export interface AheadWork {
  readonly root: string;
  /** At the top of it, in the order of the search. */
  readonly folders: readonly string[];
  /** Whether a usual file's head is enough. */
  readonly withHeads: boolean;
}

export interface StampWork {
  readonly root: string;
  /** The index as it is on disk. Belongs to the other thread from then on. */
  readonly bytes: ArrayBuffer;
  /** Where its first entry starts and its last one ends, in its text. */
  readonly start: number;
  readonly end: number;
  /** The same in its bytes. */
  readonly firstByte: number;
  readonly endByte: number;
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

export interface AheadAnswer {
  readonly batch: number;
  readonly fetched: FetchedBatch;
}

/** Folders that are fetched together. */
export const AHEAD_BATCH = 32;

export const STATE = { free: 0, here: 1, there: 2, done: 3 } as const;

/** The folders of a batch. */
export function batchOf(folders: readonly string[], batch: number): readonly string[] {
  return folders.slice(batch * AHEAD_BATCH, (batch + 1) * AHEAD_BATCH);
}

/** In no name of a folder. */
export const BETWEEN_FOLDERS = "/";

/** This many batches wait for the search at most. */
export const LEAD = 16;

/** Where two threads that compare stamps write how far they are. */
export const PROGRESS = { checkedFrom: 0, reached: 1 } as const;

/** Stands in `checkedFrom` once a difference was found. */
export const CHANGED = -1;

/** A thread that does not move for this long is not waited for. */
export const PATIENCE_MS = 10_000;
