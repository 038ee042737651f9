/** When a file or folder counts as unchanged: it has the same stamp, and was not changed just as the stamp was kept. */
import { type BigIntStats, statSync } from "node:fs";
import { stampOf } from "../trust/content-identity.ts";

/** An entry changed this close to the writing of the index may have changed again within the clock's grain. */
const RACY_MS = 2000;

/** `undefined` for a file that is gone or out of reach, which reading it will show. */
export function currentStats(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

export function currentStamp(file: string): string | undefined {
  const stats = currentStats(file);
  return stats && stampOf(stats);
}

/** The later of both times in milliseconds: a change within the clock's grain of it may not show in the stamp. */
export function lastChange({ mtimeNs, ctimeNs }: BigIntStats): number {
  return Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
}

export function isSettled(changed: number, writtenAt: number): boolean {
  return changed < writtenAt - RACY_MS;
}
