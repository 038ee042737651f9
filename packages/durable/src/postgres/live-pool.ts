/**
 * Connections that are given up when one of them is lost, or when nobody answers. A machine that is gone says nothing, and
 * the system waits a quarter of an hour until it believes that; a lease is over after seconds. And of a connection that was
 * lost while it wrote, the driver keeps what was not written, and never gets it to work again.
 */
import { isPassing } from "./faults.ts";
import type { Pool } from "./open-pool.ts";

export interface LivePool {
  /** Rejects, as for a lost connection, when there is no answer in time; all that was asked by the same connections does. */
  ask<Value>(call: (pool: Pool) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

/** How long a connection may take to say goodbye. */
const CLOSE_SECONDS = 2;
/** How long those beside one that was lost may go on with what they do. */
const LAST_SECONDS = 1;

export function openLivePool(open: () => Pool, silenceMs: number): LivePool {
  let pool = open();
  const giveUp = (given: Pool, seconds: number): void => {
    if (given !== pool) return; // Others have noticed before.
    pool = open();
    void given.end({ timeout: seconds });
  };
  return {
    ask<Value>(call: (pool: Pool) => Promise<Value>) {
      const asked = pool;
      return new Promise<Value>((resolve, reject) => {
        const timer = setTimeout(() => {
          reject(new SilenceError(silenceMs));
          giveUp(asked, 0);
        }, silenceMs);
        call(asked).then(
          (value) => {
            clearTimeout(timer);
            resolve(value);
          },
          (fault: unknown) => {
            clearTimeout(timer);
            if (isPassing(fault)) giveUp(asked, LAST_SECONDS);
            reject(fault);
          },
        );
      });
    },
    close: () => pool.end({ timeout: CLOSE_SECONDS }),
  };
}

class SilenceError extends Error {
  readonly code = "ETIMEDOUT";

  constructor(silenceMs: number) {
    super(`Postgres has not answered for ${silenceMs} ms.`);
  }
}
