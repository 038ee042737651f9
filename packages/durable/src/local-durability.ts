/** Durable runs on one machine, for programs: nothing is loaded until it is opened. */
import { join } from "node:path";
import type { Environment } from "@metier/base/programs";
import { done, type Result } from "@metier/base/result";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { JournalStore } from "./journal-store.ts";
import type { RunEngine } from "./run-engine.ts";
import type { SnapshotStore } from "./snapshot-store.ts";
import type { SnapshotLimits } from "./snapshots/count-bytes.ts";
import type { SqliteReader } from "./sqlite/open-store.ts";

/** A journal, an engine and snapshots in one folder: pass all three to `createMetier`. */
export interface LocalDurability {
  /** For the option `journal`. */
  readonly journal: JournalStore;
  /** For the option `engine`. */
  readonly engine: RunEngine;
  /** For the option `snapshots`. */
  readonly snapshots: SnapshotStore;
  /** Frees the folder for other processes. Stop your workers first. */
  close(): Promise<void>;
}

/** Where durable runs are kept on this machine. */
export interface LocalFolder {
  /** Created if it doesn't exist. Only one process at a time can use it. */
  readonly folder: string;
  /**
   * Where `METIER_MASTER_KEY` is read from. Default: `process.env`. Without it, a key file is created in the folder.
   */
  readonly environment?: Environment | undefined;
  /** The most bytes for snapshots of work folders. A run that needs more ends as `failed`. */
  readonly snapshots?: SnapshotLimits | undefined;
}

/** What processes other than the owner see of a folder. */
export interface LocalReader extends SqliteReader {
  /** Whether a process is using the folder now. */
  readonly isClaimed: boolean;
}

/** Reads a folder's journal next to the process that owns it, without the engine. */
export async function readLocal({ folder }: Pick<LocalFolder, "folder">): Promise<Result<LocalReader>> {
  const { openSqliteReader } = await import("./sqlite/open-store.ts");
  const { isClaimed } = await import("./sqlite/claim-home.ts");
  const reader = openSqliteReader({ file: join(folder, "journal.db") });
  return reader.ok ? done({ ...reader.value, isClaimed: isClaimed(folder) }) : reader;
}

/**
 * Refused if another process uses the folder, this Node has no SQLite, or `METIER_MASTER_KEY` isn't a key, or isn't the
 * one the folder was written with.
 */
export async function openLocal(place: LocalFolder): Promise<Result<LocalDurability>> {
  const sqlite = await import("./sqlite/open-local.ts");
  return sqlite.openLocal(place);
}

/** A journal, an engine and snapshots that programs on several machines share: pass all three to `createMetier`. */
export interface SharedDurability extends LocalDurability {
  /** Ends all connections. Stop your workers first. */
  close(): Promise<void>;
}

/** Where programs on several machines share durable runs. */
export interface SharedStores {
  /** `postgres://…` of a role that owns no table and is subject to row level security. */
  readonly databaseUrl: string;
  /** The URL of the role that owns the tables: with it, the schema is upgraded first. Default: it is up to date. */
  readonly adminUrl?: string | undefined;
  /** Bypasses a connection pooler, for notices. Default: `databaseUrl`. */
  readonly directUrl?: string | undefined;
  /** `s3://bucket/prefix?endpoint=…`, or `file:///folder` for a folder that all machines see. */
  readonly objectStore: string;
  /** Where `METIER_MASTER_KEY` and the key of the object store are read from. Default: `process.env`. */
  readonly environment?: Environment | undefined;
  /** The most bytes for snapshots of work folders. A run that needs more ends as `failed`. */
  readonly snapshots?: SnapshotLimits | undefined;
}

const SHARED: OptionKeys<SharedStores> = {
  databaseUrl: true,
  adminUrl: true,
  directUrl: true,
  objectStore: true,
  environment: true,
  snapshots: true,
};

/**
 * Refused if there is no master key, or a different one than before, or if the database or object store can't be used.
 */
export async function openShared(place: SharedStores): Promise<Result<SharedDurability>> {
  checkKeys("openShared", place, SHARED);
  const { environment = process.env, ...stores } = place;
  const shared = await import("./postgres/open-shared.ts");
  return shared.openShared({ ...stores, environment });
}
