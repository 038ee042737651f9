/**
 * A worker with a home of its own on a journal that it shares with others, as one of several machines has it:
 * `sharing-worker.ts <shared folder> <home> <leaseMs>`.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "@metier/base/result";
import { createSnapshotStore, openFolderBlobs, openMasterKey } from "@metier/durable/snapshots";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { createMetier } from "@metier/runtime";

const [shared = "", home = "", lease = "2000"] = process.argv.slice(2);
const file = join(shared, "journal.db");
const store = required(openSqliteStore({ file }));
const metier = await createMetier({
  home,
  journal: store.journal,
  engine: required(openSqliteEngine({ file })),
  snapshots: createSnapshotStore({
    blobs: openFolderBlobs(join(shared, "snapshots")),
    keys: required(openMasterKey({ environment: {}, file: join(shared, "master-key.json") })),
  }),
  index: false,
});
metier.durable.work({ slots: 2, leaseMs: Number(lease) });
writeSync(1, "open\n");

function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
