/**
 * How many bytes the snapshots of tenants and runs take, and where that ends. What a tenant has is looked up once, and again
 * after a while where other processes store, too; after that each blob that is stored is added. A run is counted by what it
 * has stored since this process began to work on it.
 */
import { type Refusal, refused } from "@metier/base/result";
import { dropOldest } from "@metier/base/turns";
import type { BlobStore, SnapshotScope } from "../snapshot-store.ts";

export interface SnapshotLimits {
  /** Of all snapshots of one tenant. Default: 20 GiB. */
  readonly bytesPerTenant?: number | undefined;
  /** Of what one run stores, those that it started included. Default: 8 GiB. */
  readonly bytesPerRun?: number | undefined;
}

/** What this tenant may store; `undefined`: as much as any. */
export type StorageOf = (tenant: string) => Promise<number | undefined>;

/** Thrown while a folder is read, and told as a refusal of the whole snapshot. */
export class SnapshotsFull extends Error {
  override readonly name = "SnapshotsFull";
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Stores a blob unless it is there already. One that would be too much is not stored, and throws `SnapshotsFull`. */
export type KeepBlob = (name: string, seal: () => Uint8Array) => Promise<void>;

interface CountParts {
  readonly blobs: BlobStore;
  readonly limits: SnapshotLimits;
  readonly storageOf: StorageOf;
  /** A blob that is older is stored again, so that no other process removes it as forgotten. */
  readonly renewMs: number;
}

interface ByteCount {
  open(scope: SnapshotScope, prefixes: readonly string[]): Promise<KeepBlob>;
  /** Something was removed: it is looked up again. */
  forget(): void;
}

const GIB = 1024 ** 3;
const PER_TENANT = 20 * GIB;
const PER_RUN = 8 * GIB;
/** Runs of which it is known what they have stored. */
const MOST_RUNS = 10_000;
/** How long what was looked up holds where others store, too. */
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
    // Whoever waits for it hears of it, and the next one looks again.
    found.catch(() => tenants.get(tenant) === count && tenants.delete(tenant));
    return count;
  };
  return {
    async open({ tenant, runId }, prefixes) {
      const count = lookUp(tenant, prefixes);
      const before = await count.found;
      const most = (await storageOf(tenant)) ?? bytesPerTenant;
      /** Of a blob that is not there yet. */
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
    message: `The work folder cannot be kept: ${what} would take ${bytes} bytes, and ${most} are allowed.`,
    hint: "Let the run write less and remove what it does not need, such as caches and installed packages; or allow more, in `metier serve` with `--snapshots <gib>`, for one tenant with its quota for storage.",
  });
}

/** For a snapshot that was not taken for this reason alone. */
export function refuseFull(fault: unknown): ReturnType<typeof refused<Refusal & { readonly isFull: true }>> {
  if (!(fault instanceof SnapshotsFull)) throw fault;
  return refused({ ...fault.refusal, isFull: true });
}
