/**
 * Connections that are given up when one of them is lost or nobody answers. A dead machine says nothing, and the system
 * takes a quarter of an hour to notice; a lease expires after seconds. And if a connection is lost while writing, the
 * driver keeps the unwritten data and never recovers.
 */
import { isPassing } from "./faults.ts";
import type { Pool } from "./open-pool.ts";

export interface LivePool {
  /**
   * Rejects, as for a lost connection, if no answer comes in time. So does everything else sent over the same
   * connections.
   */
  ask<Value>(call: (pool: Pool) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

/** How long a connection may take to close. */
const CLOSE_SECONDS = 2;
/** How long the other connections may finish their work after one was lost. */
const LAST_SECONDS = 1;

export function openLivePool(open: () => Pool, silenceMs: number): LivePool {
  let pool = open();
  const giveUp = (given: Pool, seconds: number): void => {
    if (given !== pool) return; // Others noticed first.
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
    super(`Postgres has not answered for ${silenceMs / 1000} s.`);
  }
}
