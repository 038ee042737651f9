/** When a file or folder counts as unchanged: its stamp is the same, and was not too recent when it was stored. */
import { type BigIntStats, statSync } from "node:fs";
import { stampOf } from "../trust/content-identity.ts";

/**
 * An entry that changed this close to the writing of the index may have changed again within the clock's resolution.
 */
const RACY_MS = 2000;

/** `undefined` for a file that is gone or unreachable, which reading it will show. */
export function currentStats(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

/** Whether the file or folder that an index has under a key still has its stamp, and had it long enough to be believed. */
export function isUnchanged(root: string, key: string, stamp: string, writtenAt: number): boolean {
  const stats = currentStats(root + (key.endsWith("/") ? key.slice(0, -1) : key));
  return stats !== undefined && stampOf(stats) === stamp && isSettled(lastChange(stats), writtenAt);
}

export function currentStamp(file: string): string | undefined {
  const stats = currentStats(file);
  return stats && stampOf(stats);
}

/** The later of both times in milliseconds: a change within the clock's resolution may not show in the stamp. */
export function lastChange({ mtimeNs, ctimeNs }: BigIntStats): number {
  return Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
}

export function isSettled(changed: number, writtenAt: number): boolean {
  return changed < settledBefore(writtenAt);
}

/** In milliseconds: what changed since is not believed. */
export function settledBefore(writtenAt: number): number {
  return writtenAt - RACY_MS;
}
