/** Durability that many machines share: journal, records and engine in Postgres, work folders and skills in an object store. */
import type { Environment } from "@metier/base/programs";
import { done, type Refused, type Result } from "@metier/base/result";
import type { JournalStore } from "../journal-store.ts";
import { holdToKey } from "../keys/hold-to-key.ts";
import { type MasterKey, openMasterKey } from "../keys/master-key.ts";
import { openTenantKeys, type TenantKeys } from "../keys/tenant-keys.ts";
import type { NoticeBus } from "../notice-bus.ts";
import type { RecordStore } from "../record-store.ts";
import type { RunEngine } from "../run-engine.ts";
import type { BlobStore, TenantSnapshots } from "../snapshot-store.ts";
import type { SnapshotLimits } from "../snapshots/count-bytes.ts";
import { createSnapshotStore } from "../snapshots/create-snapshot-store.ts";
import { readObjectStore } from "../snapshots/object-store-place.ts";
import { openObjectStore } from "../snapshots/open-object-store.ts";
import { type ChangeEntry, type ImportCounts, importLocal } from "./import-local.ts";
import { openPostgresNotices } from "./notices.ts";
import { openPostgresEngine } from "./open-engine.ts";
import { openPostgresStore } from "./open-store.ts";

interface SharedPlace {
  /** For the role that services use. */
  readonly databaseUrl: string;
  /** For the role that owns the tables. If given, it first upgrades the schema. */
  readonly adminUrl?: string | undefined;
  /**
   * For the same role without a connection pooler, which passes on neither notices nor settings. Default:
   * `databaseUrl`.
   */
  readonly directUrl?: string | undefined;
  /** In the form that `readObjectStore` takes. */
  readonly objectStore: string;
  /** Contains `METIER_MASTER_KEY` and the credentials of the object store. */
  readonly environment: Environment;
  /** How much snapshots may store. */
  readonly snapshots?: SnapshotLimits | undefined;
  /** How many bytes one tenant may store; `undefined`: as much as any other. */
  readonly storageOf?: ((tenant: string, records: RecordStore) => Promise<number | undefined>) | undefined;
}

/** For this long, nobody removes what another process has stored. */
const GRACE_MS = 3_600_000;

interface SharedState {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly engine: RunEngine;
  readonly snapshots: TenantSnapshots;
  readonly keys: TenantKeys;
  /** Notices between processes on the same database. */
  readonly bus: NoticeBus;
  close(): Promise<void>;
}

/**
 * Refused if the master key is missing or not the one used before, or the database or object store is unreachable or
 * unsuitable.
 */
export async function openShared(place: SharedPlace): Promise<Result<SharedState>> {
  const { databaseUrl, adminUrl, directUrl = databaseUrl, snapshots: limits } = place;
  const outside = await openOutside(place);
  if (!outside.ok) return outside;
  const { master, blobs } = outside.value;
  const store = await openPostgresStore({ url: databaseUrl, adminUrl });
  if (!store.ok) return store;
  const closers: (() => Promise<void>)[] = [store.value.close];
  const close = async (): Promise<void> => {
    for (const closer of closers.toReversed()) await closer();
  };
  const refuse = async (refusal: Refused): Promise<Refused> => {
    await close();
    return refusal;
  };
  const { journal, records } = store.value;
  const keys = openTenantKeys({ records, master });
  const held = await holdToKey(records, master, keys);
  if (!held.ok) return refuse(held);
  const { bus, ticks, close: closeNotices } = openPostgresNotices({ url: directUrl });
  const engine = openPostgresEngine({ url: directUrl, ticks });
  closers.push(closeNotices, engine.close);
  return done({
    journal,
    records,
    engine,
    bus,
    snapshots: createSnapshotStore({
      blobs,
      keys,
      limits,
      storageOf: async (tenant) => place.storageOf?.(tenant, records),
      graceMs: GRACE_MS,
    }),
    keys,
    close,
  });
}

/** Moves a folder's service to the database, once. Refused for the same reasons as `importLocal` and `openShared`. */
export async function importShared(
  place: SharedPlace,
  folder: string,
  changeEntry: ChangeEntry,
): Promise<Result<ImportCounts>> {
  const { databaseUrl, adminUrl } = place;
  const outside = await openOutside(place);
  if (!outside.ok) return outside;
  const store = await openPostgresStore({ url: databaseUrl, adminUrl });
  if (!store.ok) return store;
  await store.value.close(); // Opened only for its schema.
  return importLocal({ folder, databaseUrl, changeEntry, ...outside.value });
}

async function openOutside({
  objectStore,
  environment,
}: SharedPlace): Promise<Result<{ readonly master: MasterKey; readonly blobs: BlobStore }>> {
  // Without a key file: it would belong to one machine, and a second machine would create another key.
  const master = openMasterKey({ environment });
  if (!master.ok) return master;
  const place = readObjectStore(objectStore, environment);
  if (!place.ok) return place;
  const blobs = await openObjectStore(place.value);
  return blobs.ok ? done({ master: master.value, blobs: blobs.value }) : blobs;
}
