/**
 * A worker with a home of its own on a journal that it shares with others, as one of several machines has it:
 * `sharing-worker.ts <shared folder> <home> <leaseMs>`. Where the environment names a database, it is that which is shared.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "@metier/base/result";
import { createMetier, type DurabilityOptions } from "@metier/runtime";

const [shared = "", home = "", lease = "2000"] = process.argv.slice(2);
const { METIER_DATABASE_URL: databaseUrl } = process.env;
const durable = await (databaseUrl === undefined ? openFolder() : openDatabase(databaseUrl));
const metier = await createMetier({ home, index: false, ...durable });
metier.durable.work({ slots: 2, leaseMs: Number(lease) });
writeSync(1, "open\n");

async function openFolder(): Promise<DurabilityOptions> {
  const { createSnapshotStore, openFolderBlobs, openMasterKey, openTenantKeys } = await import(
    "@metier/durable/snapshots"
  );
  const { openSqliteEngine, openSqliteStore } = await import("@metier/durable/sqlite");
  const file = join(shared, "journal.db");
  const { journal, records } = required(openSqliteStore({ file }));
  const blobs = openFolderBlobs(join(shared, "snapshots"));
  const master = required(openMasterKey({ environment: {}, file: join(shared, "master-key.json") }));
  return {
    journal,
    engine: required(openSqliteEngine({ file })),
    snapshots: createSnapshotStore({ blobs, keys: openTenantKeys({ records, master }) }),
  };
}

async function openDatabase(url: string): Promise<DurabilityOptions> {
  const { openShared } = await import("@metier/durable/postgres");
  const { METIER_OBJECT_STORE: objectStore = "" } = process.env;
  const { journal, engine, snapshots } = required(
    await openShared({ databaseUrl: url, objectStore, environment: process.env }),
  );
  return { journal, engine, snapshots };
}

function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
