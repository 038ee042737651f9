/** Where a service keeps its state: in this machine's files, for one process; or in a shared database. */
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import type { JournalStore, NoticeBus, RecordStore, RunEngine, TenantSnapshots } from "@metier/durable";
import { findMoved, type SnapshotLimits } from "@metier/durable/local";
import type { ChangedOrder, ImportCounts } from "@metier/durable/postgres";
import type { TenantKeys } from "@metier/durable/snapshots";
import { chooseSandbox, explainAbsence } from "@metier/sandbox";
import { findStorageQuota } from "../quotas/storage-quota.ts";

export interface ServiceState {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly engine: RunEngine;
  readonly snapshots: TenantSnapshots;
  readonly keys: TenantKeys;
  /** For a shared database: what its processes tell each other. */
  readonly bus?: NoticeBus;
  /** What was just moved there, and how its orders can still be changed. */
  readonly imported?: ImportedState;
  close(): Promise<void>;
}

interface ImportedState {
  readonly counts: ImportCounts;
  changeOrders(changed: readonly ChangedOrder[]): Promise<void>;
}

/** A database and an object store that many processes share. */
export interface SharedPlaces {
  /** `postgres://…`: of the role that services use. */
  readonly database: string;
  /** `s3://bucket/prefix?endpoint=…`, or `file:///folder`. */
  readonly objectStore: string;
}

interface StatePlaces {
  /** The service's, on this machine: all state, or what is fetched from the object store. */
  readonly folder: string;
  readonly environment: Environment;
  /** The most bytes for snapshots of work folders. */
  readonly snapshots?: SnapshotLimits | undefined;
  /** Absent: all state is in the folder. */
  readonly shared?: SharedPlaces | undefined;
  /** Everything in the folder is moved there first. */
  readonly isImport?: boolean | undefined;
}

/** Refused if another process has the folder, or the database or key can't be used. */
export async function openServiceState(places: StatePlaces): Promise<Result<ServiceState>> {
  const { folder, environment, snapshots, shared, isImport = false } = places;
  if (shared === undefined) {
    const moved = findMoved(folder);
    if (moved) return refused(moved);
    const { openLocal } = await import("@metier/durable/sqlite");
    return openLocal({ folder, environment, isCaughtUpLater: true, snapshots, storageOf: findStorageQuota });
  }
  const { changeOrders, importShared, openShared } = await import("@metier/durable/postgres");
  const place = {
    databaseUrl: shared.database,
    adminUrl: environment.METIER_DATABASE_ADMIN_URL,
    directUrl: environment.METIER_DATABASE_DIRECT_URL,
    objectStore: shared.objectStore,
    environment,
    snapshots,
    storageOf: findStorageQuota,
  };
  const imported = isImport ? await importShared(place, folder, await loadRelease()) : undefined;
  if (imported?.ok === false) return imported;
  const opened = await openShared(place);
  if (!opened.ok || imported === undefined) return opened;
  const change = (changed: readonly ChangedOrder[]) => changeOrders(shared.database, changed);
  return done({ ...opened.value, imported: { counts: imported.value, changeOrders: change } });
}

async function loadRelease() {
  return (await import("@metier/run/engine")).releaseStart;
}

/** A service runs skills for others, so it never runs them without a sandbox. */
export async function requireSandbox(environment: Environment): Promise<Result<undefined>> {
  const { sandbox, probes } = await chooseSandbox({ backend: "bubblewrap", environment });
  if (sandbox !== undefined) return done(undefined);
  return refused({
    message: `The service cannot start: ${explainAbsence(probes)}`,
    hint: "A service runs skills for other people, so it never runs them without a sandbox.",
  });
}
