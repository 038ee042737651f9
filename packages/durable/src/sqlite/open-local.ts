/** Durability on one machine: journal, records, engine, snapshots and keys in one folder, which belongs to one process. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@metier/base/programs";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import { catchUp, catchUpOne } from "../catch-up.ts";
import { holdToKey } from "../keys/hold-to-key.ts";
import type { MasterKeyPlaces } from "../keys/key-ring.ts";
import { type MasterKey, openMasterKey } from "../keys/master-key.ts";
import { openTenantKeys, type TenantKeys } from "../keys/tenant-keys.ts";
import type { LocalDurability } from "../local-durability.ts";
import type { RecordStore } from "../record-store.ts";
import type { TenantSnapshots } from "../snapshot-store.ts";
import type { SnapshotLimits } from "../snapshots/count-bytes.ts";
import { createSnapshotStore } from "../snapshots/create-snapshot-store.ts";
import { openFolderBlobs } from "../snapshots/folder-blobs.ts";
import { claimHome } from "./claim-home.ts";
import { openSqliteEngine } from "./open-engine.ts";
import { openSqliteStore } from "./open-store.ts";

/** Including what only a service needs. */
export interface LocalState extends LocalDurability {
  readonly records: RecordStore;
  readonly snapshots: TenantSnapshots;
  readonly keys: TenantKeys;
}

interface LocalPlace {
  /** Created if it doesn't exist. */
  readonly folder: string;
  /** May contain `METIER_MASTER_KEY`; without it, a key is created in the folder. */
  readonly environment?: Environment | undefined;
  /** A terminal's run: the engine sees only that run. Default: all other runs. */
  readonly only?: string | undefined;
  /** The caller must call `catchUp`, as the service does on any store. */
  readonly isCaughtUpLater?: boolean | undefined;
  /** How much snapshots may store. */
  readonly snapshots?: SnapshotLimits | undefined;
  /** How much a tenant may store, by its quotas; `undefined`: the limit in `snapshots`. */
  readonly storageOf?: ((tenant: string, records: RecordStore) => Promise<number | undefined>) | undefined;
}

/**
 * Refused if another process uses the folder, this Node has no SQLite, or the key is malformed or not the one used
 * before.
 */
export async function openLocal({
  folder,
  environment = process.env,
  only,
  isCaughtUpLater = false,
  snapshots: limits,
  storageOf,
}: LocalPlace): Promise<Result<LocalState>> {
  const claim = claimHome(folder);
  if (!claim.ok) return claim;
  const closers: (() => void | Promise<void>)[] = [claim.value.release];
  const close = async (): Promise<void> => {
    for (const closer of closers.toReversed()) await closer();
  };
  const refuse = async (refusal: Refused): Promise<Refused> => {
    await close();
    return refusal;
  };
  const file = join(folder, "journal.db");
  const master = openKeys({ environment, file: join(folder, "master-key.json") }, file);
  if (!master.ok) return refuse(master);
  const store = openSqliteStore({ file });
  if (!store.ok) return refuse(store);
  const { journal, records } = store.value;
  closers.push(store.value.close);
  const keys = openTenantKeys({ records, master: master.value });
  const held = await holdToKey(records, master.value, keys);
  if (!held.ok) return refuse(held);
  const lane = only === undefined ? undefined : `run ${only}`;
  const engine = openSqliteEngine({ file, isAlone: true, lane });
  if (!engine.ok) return refuse(engine);
  closers.push(engine.value.close);
  const blobs = openFolderBlobs(join(folder, "snapshots"));
  if (only !== undefined) await catchUpOne(journal, engine.value, only);
  else if (!isCaughtUpLater) await catchUp(journal, engine.value);
  return done({
    journal,
    records,
    engine: engine.value,
    snapshots: createSnapshotStore({
      blobs,
      keys,
      limits,
      storageOf: async (tenant) => storageOf?.(tenant, records),
    }),
    keys,
    close,
  });
}

/** A new key couldn't open the existing data, so the owner must restore a journal's missing key. */
function openKeys(places: MasterKeyPlaces, journal: string): Result<MasterKey> {
  const isUsed = (statSync(journal, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const isKept = Boolean(places.environment.METIER_MASTER_KEY) || existsSync(places.file);
  if (isKept || !isUsed) return openMasterKey(places);
  return refused({
    message: `The master key \`${places.file}\` is missing, but \`${journal}\` was written with it.`,
    hint: "Restore it from a backup, or set METIER_MASTER_KEY. To start over without the stored secrets and runs, move the folder away.",
  });
}
