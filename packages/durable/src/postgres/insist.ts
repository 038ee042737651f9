/** Keeps going when Postgres restarts or is cut off for a while: what may be requested twice is requested again. */
import { setTimeout as delay } from "node:timers/promises";
import { isPassing } from "./faults.ts";

/** Measured from the first fault. A restart takes seconds. */
const PATIENCE_MS = 30_000;
const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 1_000;

/** `isAgain`: an earlier call may have been carried out although its answer was lost. */
export async function insist<Value>(
  call: (isAgain: boolean) => Promise<Value>,
  patienceMs: number = PATIENCE_MS,
): Promise<Value> {
  let lostAt: number | undefined;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LAST_PAUSE_MS)) {
    try {
      return await call(lostAt !== undefined);
    } catch (fault) {
      lostAt ??= Date.now();
      if (!isPassing(fault) || Date.now() - lostAt > patienceMs) throw fault;
    }
    await delay(pause);
  }
}
