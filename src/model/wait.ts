/** A pause that ends early, with the signal's reason, when it is no longer wanted. */
import { setTimeout as pause } from "node:timers/promises";

export async function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, { ...(signal && { signal }) });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
