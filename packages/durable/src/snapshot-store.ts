/**
 * Snapshots of work folders: content-addressed, incremental and encrypted, so that a run gets its folder back on
 * another machine, byte for byte. `BlobStore` hides where the bytes are.
 */
import type { Refusal, Result } from "@metier/base/result";
import type { NeededSnapshot } from "./journal-store.ts";

/** Bytes by name; in a folder or an object store. They are encrypted before they get here. */
export interface BlobStore {
  /** When it was last stored, in milliseconds since 1970. `undefined`: there is none. */
  storedAt(name: string): Promise<number | undefined>;
  /** The same name has the same bytes: storing again only updates the time. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** `undefined`: there is none. */
  get(name: string): Promise<Uint8Array | undefined>;
  delete(name: string): Promise<void>;
  /** All names with this prefix, in no order. */
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
   * Stores the folder as it is: regular files, folders, links (as links) and modes. Returns the snapshot's name, which
   * is the same for the same content; only new data is stored. Refused if the folder has too many files or bytes, or an
   * unreadable file, or if its run or tenant has no storage left (`isFull`).
   */
  take(folder: string, scope: SnapshotScope): Promise<Result<string, SnapshotRefusal>>;
  /**
   * Removes everything that none of these snapshots needs; returns how many blobs. Nothing is taken here in the
   * meantime. A function is called once nothing is being taken, and what was taken within the last minute stays too: it
   * may not be in the journal yet.
   */
  collect(needed: readonly NeededSnapshot[] | (() => Promise<readonly NeededSnapshot[]>)): Promise<number>;
  /** Restores the folder exactly: anything else in it is removed. Throws if a part is missing or was changed. */
  restore(name: string, folder: string, scope: SnapshotScope): Promise<void>;
}

/** Adds what only operators of tenants need. */
export interface TenantSnapshots extends SnapshotStore {
  /** How many bytes a tenant has stored. */
  bytes(tenant: string): Promise<number>;
  /** Removes everything a tenant has stored; returns how many blobs. Its key must still exist. */
  clear(tenant: string): Promise<number>;
}

/** Whose snapshot it is: with another tenant's key, its bytes can't be read or even detected. */
export interface SnapshotScope {
  /** The tenant of the run. */
  readonly tenant: string;
  /** The outermost run that it is taken for: its storage is counted. Absent: nothing is counted. */
  readonly runId?: string | undefined;
}

/** It isn't as it was taken: a part is missing, was changed, or its key is gone. Retrying doesn't help. */
export class DamagedSnapshotError extends Error {
  override readonly name = "DamagedSnapshotError";
  constructor(why: string) {
    super(`The snapshot cannot be restored: ${why}.`);
  }
}

/** Why a folder wasn't stored. */
export interface SnapshotRefusal extends Refusal {
  /** No storage left: the run or its tenant has stored as much as allowed. */
  readonly isFull?: true | undefined;
}
