/**
 * Snapshots of work folders: content-addressed, incremental and encrypted, so that a run finds its folder again on another
 * machine, byte for byte. Where the bytes lie is behind `BlobStore`.
 */
import type { Refusal, Result } from "@metier/base/result";
import type { NeededSnapshot } from "./journal-store.ts";

/** Bytes under names; a folder here, an object store elsewhere. What is stored is encrypted before it gets here. */
export interface BlobStore {
  /** When it was last stored, in milliseconds since 1970. `undefined`: there is none. */
  storedAt(name: string): Promise<number | undefined>;
  /** The same name has the same bytes: a second time changes nothing but when it was stored. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** `undefined`: there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  delete(name: string): Promise<void>;
  /** All whose names begin so, in no order. */
  entries(prefix: string): AsyncIterable<StoredBlob>;
}

export interface StoredBlob {
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
}

/** Where work folders of durable runs are kept. */
export interface SnapshotStore {
  /**
   * Takes the folder as it is: regular files, folders, links (as links) and modes. Gives the snapshot's name, which is the
   * same for the same content; only what is new is stored. Refused: a folder with too many files or bytes, or with one that
   * cannot be read; and one that has no room beside the other snapshots of its run or its tenant (`isFull`).
   */
  take(folder: string, scope: SnapshotScope): Promise<Result<string, SnapshotRefusal>>;
  /**
   * Removes all that no snapshot of these needs; gives how many blobs that were. Nothing is taken here meanwhile. A function is
   * asked once nothing is being taken, and what was taken within the last minute stays, too: it may not be in the journal yet.
   */
  collect(needed: readonly NeededSnapshot[] | (() => Promise<readonly NeededSnapshot[]>)): Promise<number>;
  /** Makes the folder exactly what it was: what is there beside it is removed. Throws when a part is missing or was changed. */
  restore(name: string, folder: string, scope: SnapshotScope): Promise<void>;
}

/** With what only those need who answer for tenants. */
export interface TenantSnapshots extends SnapshotStore {
  /** How many bytes all that is stored of a tenant takes. */
  bytes(tenant: string): Promise<number>;
  /** Removes all that is stored of a tenant; gives how many blobs that were. Its key has to be there still. */
  clear(tenant: string): Promise<number>;
}

/** Whose snapshot it is: one tenant's bytes cannot be read, nor be told to be there, with another's key. */
export interface SnapshotScope {
  /** The tenant of the run. */
  readonly tenant: string;
  /** The outermost run that it is taken for: what it stores is counted. Absent: nothing is. */
  readonly runId?: string | undefined;
}

/** It is not as it was taken: a part is missing, was changed, or is under a key that is gone. Trying again changes nothing. */
export class DamagedSnapshotError extends Error {
  override readonly name = "DamagedSnapshotError";
  constructor(why: string) {
    super(`The snapshot cannot be restored: ${why}.`);
  }
}

/** Why a folder was not kept. */
export interface SnapshotRefusal extends Refusal {
  /** There is no room for it: the run or its tenant has stored as much as is allowed. */
  readonly isFull?: true | undefined;
}
