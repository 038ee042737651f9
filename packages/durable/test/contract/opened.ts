/** What the contract is held against, and how it gets one: any store and engine can be given. */
import type { JournalStore, RecordStore, RunEngine } from "../../src/index.ts";

export interface Opened {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly engine: RunEngine;
  close(): Promise<void>;
}

export interface Stores {
  readonly name: string;
  /** A module with `open(place)`, so that other processes can open the same. */
  readonly opener: string;
  open(place: string): Opened | Promise<Opened>;
}
