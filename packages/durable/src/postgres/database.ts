/** Statements for Postgres, each prepared once by connection and a transaction by itself. */
import { insist } from "./insist.ts";
import { type LivePool, openLivePool } from "./live-pool.ts";
import { openPool, type Pool } from "./open-pool.ts";

export type Value = string | number | boolean | null | readonly (string | number | null)[];

export type Row = Readonly<Record<string, unknown>>;

export interface Database {
  /** Again for a while when the connection is lost. */
  read(text: string, values: readonly Value[]): Promise<readonly Row[]>;
  /** The same for a change that may be asked for twice. `isAgain`: it may have been made already, and the answer was lost. */
  insist(text: string, values: (isAgain: boolean) => readonly Value[]): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** Longer than any statement takes, also on a busy server. */
const SILENCE_MS = 20_000;

/** Everything has its index, but a plan that was made when a table was empty reads all of it, and is kept for a while. */
const SETTINGS = { enable_seqscan: "off" };

/**
 * What is read does not wait for the disk, and so few connections do: what many ask for at the same time goes out together and
 * costs one message instead of many.
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
