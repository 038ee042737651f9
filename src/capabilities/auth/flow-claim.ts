/** Who has a flow while its provider is asked. The claim of a process that died, or of one that hangs, counts for nothing. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { isAlive } from "../../host/process-alive.ts";

export interface FlowClaim {
  readonly id: string;
  readonly pid: number;
  readonly host: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** No provider is given so long for an answer. */
const ABANDONED_AFTER_MS = 10 * 60_000;

export function makeClaim(at: number): FlowClaim {
  return { id: randomUUID(), pid: process.pid, host: hostname(), at };
}

export function isClaimed(claim: FlowClaim | undefined, now: number): boolean {
  if (claim === undefined || now - claim.at > ABANDONED_AFTER_MS) return false;
  return claim.host !== hostname() || isAlive(claim.pid);
}
