/**
 * How many bytes the snapshots of tenants and runs take, and their limits. A tenant's total is looked up once, and
 * again after a while if other processes store too; then each stored blob is added. A run is counted by what it stored
 * since this process started working on it.
 */
import { type Refusal, refused } from "@metier/base/result";
import { dropOldest } from "@metier/base/turns";
import type { BlobStore, SnapshotScope } from "../snapshot-store.ts";

export interface SnapshotLimits {
  /** For all snapshots of one tenant. Default: 20 GiB. */
  readonly bytesPerTenant?: number | undefined;
  /** For everything that one run stores, including the runs it started. Default: 8 GiB. */
  readonly bytesPerRun?: number | undefined;
}

/** How much this tenant may store; `undefined`: as much as any. */
export type StorageOf = (tenant: string) => Promise<number | undefined>;

/** Thrown while a folder is read, and reported as a refusal of the whole snapshot. */
export class SnapshotsFull extends Error {
  override readonly name = "SnapshotsFull";
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Stores a blob unless it already exists. If it would exceed a limit, throws `SnapshotsFull` instead. */
export type KeepBlob = (name: string, seal: () => Uint8Array) => Promise<void>;

interface CountParts {
  readonly blobs: BlobStore;
  readonly limits: SnapshotLimits;
  readonly storageOf: StorageOf;
  /** An older blob is stored again, so that no other process removes it as unneeded. */
  readonly renewMs: number;
}

interface ByteCount {
  open(scope: SnapshotScope, prefixes: readonly string[]): Promise<KeepBlob>;
  /** Something was removed, so the total is looked up again. */
  forget(): void;
}

const GIB = 1024 ** 3;
const PER_TENANT = 20 * GIB;
const PER_RUN = 8 * GIB;
/** How many runs' stored bytes are remembered. */
const MOST_RUNS = 10_000;
/** How long a looked-up total is valid if other processes store too. */
const KNOWN_MS = 15 * 60_000;

interface TenantCount {
  readonly at: number;
  readonly found: Promise<number>;
  added: number;
}

export function countBytes({ blobs, limits, storageOf, renewMs }: CountParts): ByteCount {
  const { bytesPerTenant = PER_TENANT, bytesPerRun = PER_RUN } = limits;
  const isShared = renewMs < Number.POSITIVE_INFINITY;
  const tenants = new Map<string, TenantCount>();
  const runs = new Map<string, number>();
  const lookUp = (tenant: string, prefixes: readonly string[]): TenantCount => {
    const known = tenants.get(tenant);
    if (known !== undefined && !(isShared && Date.now() - known.at > KNOWN_MS)) return known;
    const found = sumBytes(blobs, prefixes);
    const count: TenantCount = { at: Date.now(), found, added: 0 };
    tenants.set(tenant, count);
    // Everyone who waits for it gets the error, and the next caller tries again.
    found.catch(() => tenants.get(tenant) === count && tenants.delete(tenant));
    return count;
  };
  return {
    async open({ tenant, runId }, prefixes) {
      const count = lookUp(tenant, prefixes);
      const before = await count.found;
      const most = (await storageOf(tenant)) ?? bytesPerTenant;
      /** For a blob that doesn't exist yet. */
      const add = (bytes: number): void => {
        const ofTenant = before + count.added + bytes;
        if (ofTenant > most) throw full(`the snapshots of tenant \`${tenant}\``, ofTenant, most);
        const ofRun = runId === undefined ? 0 : (runs.get(runId) ?? 0) + bytes;
        if (ofRun > bytesPerRun) throw full(`the snapshots of run \`${runId}\``, ofRun, bytesPerRun);
        count.added += bytes;
        if (runId !== undefined) runs.set(runId, ofRun);
        forgetOldest(runs);
      };
      return async (name, seal) => {
        const storedAt = await blobs.storedAt(name);
        if (storedAt !== undefined && Date.now() - storedAt < renewMs) return;
        const bytes = seal();
        if (storedAt === undefined) add(bytes.byteLength);
        await blobs.put(name, bytes);
      };
    },
    forget: () => tenants.clear(),
  };
}

export async function sumBytes(blobs: BlobStore, prefixes: readonly string[]): Promise<number> {
  let sum = 0;
  for (const prefix of prefixes) for await (const { bytes } of blobs.entries(prefix)) sum += bytes;
  return sum;
}

function forgetOldest(runs: Map<string, number>): void {
  dropOldest(runs, MOST_RUNS);
}

function full(what: string, bytes: number, most: number): SnapshotsFull {
  return new SnapshotsFull({
    message: `The work folder cannot be kept: ${what} would take ${bytes} bytes, but only ${most} are allowed.`,
    hint: "Make the run write less and remove what it does not need, such as caches and installed packages. Or allow more: `--snapshots <gib>` of `metier serve`, or the tenant's storage quota.",
  });
}

/** The refusal of a snapshot that exceeds a limit. Throws any other fault again. */
export function refuseFull(fault: unknown): ReturnType<typeof refused<Refusal & { readonly isFull: true }>> {
  if (!(fault instanceof SnapshotsFull)) throw fault;
  return refused({ ...fault.refusal, isFull: true });
}
