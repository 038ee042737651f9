/**
 * How many bytes the snapshots of tenants and runs take, and where that ends. What a tenant has is looked up once; after that
 * each blob that is stored is added. A run is counted by what it has stored since this process began to work on it.
 */
import { type Refusal, refused } from "@metier/base/result";
import type { BlobStore, SnapshotScope } from "../snapshot-store.ts";

export interface SnapshotLimits {
  /** Of all snapshots of one tenant. Default: 20 GiB. */
  readonly bytesPerTenant?: number | undefined;
  /** Of what one run stores, those that it started included. Default: 8 GiB. */
  readonly bytesPerRun?: number | undefined;
}

/** Thrown while a folder is read, and told as a refusal of the whole snapshot. */
export class SnapshotsFull extends Error {
  override readonly name = "SnapshotsFull";
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

interface ByteCount {
  /** The same blobs; one that would be too much is not stored, and throws `SnapshotsFull`. */
  count(scope: SnapshotScope, prefixes: readonly string[]): Promise<BlobStore>;
  /** Something was removed: it is looked up again. */
  forget(): void;
}

const GIB = 1024 ** 3;
const PER_TENANT = 20 * GIB;
const PER_RUN = 8 * GIB;
/** Runs of which it is known what they have stored. */
const MOST_RUNS = 10_000;

export function countBytes(blobs: BlobStore, limits: SnapshotLimits): ByteCount {
  const { bytesPerTenant = PER_TENANT, bytesPerRun = PER_RUN } = limits;
  const tenants = new Map<string, Promise<number>>();
  const added = new Map<string, number>();
  const runs = new Map<string, number>();
  const add = (counts: Map<string, number>, name: string, bytes: number): void => {
    counts.set(name, (counts.get(name) ?? 0) + bytes);
  };
  const found = (tenant: string, prefixes: readonly string[]): Promise<number> => {
    const known = tenants.get(tenant);
    if (known !== undefined) return known;
    const looked = Promise.all(prefixes.map((prefix) => blobs.bytes(prefix)));
    const sum = looked.then((sizes) => sizes.reduce((all, size) => all + size, 0));
    tenants.set(tenant, sum);
    added.set(tenant, 0);
    sum.catch(() => tenants.delete(tenant)); // Whoever waits for it hears of it, and the next one looks again.
    return sum;
  };
  return {
    async count({ tenant, runId }, prefixes) {
      const before = await found(tenant, prefixes);
      return {
        ...blobs,
        async put(name, bytes) {
          const size = bytes.byteLength;
          const ofTenant = before + (added.get(tenant) ?? 0) + size;
          if (ofTenant > bytesPerTenant) {
            throw full(`the snapshots of tenant \`${tenant}\``, ofTenant, bytesPerTenant);
          }
          const ofRun = runId === undefined ? 0 : (runs.get(runId) ?? 0) + size;
          if (ofRun > bytesPerRun) throw full(`the snapshots of run \`${runId}\``, ofRun, bytesPerRun);
          add(added, tenant, size);
          if (runId !== undefined) add(runs, runId, size);
          forgetOldest(runs);
          await blobs.put(name, bytes);
        },
      };
    },
    forget() {
      tenants.clear();
      added.clear();
    },
  };
}

function forgetOldest(runs: Map<string, number>): void {
  const [oldest] = runs.keys();
  if (runs.size > MOST_RUNS && oldest !== undefined) runs.delete(oldest);
}

function full(what: string, bytes: number, most: number): SnapshotsFull {
  return new SnapshotsFull({
    message: `The work folder cannot be kept: ${what} would take ${bytes} bytes, and ${most} are allowed.`,
    hint: "Let the run write less and remove what it does not need, such as caches and installed packages; or allow more, in `metier serve` with `--snapshots <gib>`.",
  });
}

/** For a snapshot that was not taken for this reason alone. */
export function refuseFull(fault: unknown): ReturnType<typeof refused<Refusal & { readonly isFull: true }>> {
  if (!(fault instanceof SnapshotsFull)) throw fault;
  return refused({ ...fault.refusal, isFull: true });
}
