/** Statements for Postgres, each prepared once per connection and a transaction on its own. */
import { insist } from "./insist.ts";
import { type LivePool, openLivePool } from "./live-pool.ts";
import { openPool, type Pool } from "./open-pool.ts";

export type Value = string | number | boolean | null | readonly (string | number | null)[];

export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** Retries for a while if the connection is lost. */
  read(text: string, values: readonly Value[]): Promise<readonly Row[]>;
  /**
   * The same for a change that may be requested twice. `isAgain`: it may already have been made, but the answer was
   * lost.
   */
  insist(text: string, values: (isAgain: boolean) => readonly Value[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Longer than any statement takes, even on a busy server. */
const SILENCE_MS = 20_000;

/** Every query has an index, but a plan made while a table was empty reads the whole table, and is kept for a while. */
const SETTINGS = { enable_seqscan: "off" };

/**
 * Reads don't wait for the disk, so a few connections are enough: requests made at the same time are sent together, as
 * one message instead of many.
 */
const READERS = 2;

export function openDatabase(url: string, poolSize: number, silenceMs: number = SILENCE_MS): Database {
  const open = (most: number): LivePool =>
    openLivePool(() => openPool(url, { most, settings: SETTINGS }), silenceMs);
  const [readers, writers] = [open(Math.min(READERS, poolSize)), open(poolSize)];
  return {
    read: (text, values) => insist(() => readers.ask((pool) => queryPool(pool, text, values))),
    insist: (text, values) =>
      insist((isAgain) => writers.ask((pool) => queryPool(pool, text, values(isAgain)))),
    async close() {
      await Promise.all([readers.close(), writers.close()]);
    },
  };
}

async function queryPool(pool: Pool, text: string, values: readonly Value[]): Promise<readonly Row[]> {
  return pool.unsafe(text, [...values] as never[], { prepare: true });
}
