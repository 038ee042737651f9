/** The engine on SQLite for the bench: a file for each measurement. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { BackendSqlite } from "openworkflow/sqlite";
import { PARKED } from "./sizes.mjs";

const NAMESPACE = "metier";

/** @param {string} folder @returns {import("./beds.mjs").Bed} */
export function openSqliteBed(folder) {
  const fileOf = (/** @type {string} */ name) => join(folder, `${name}.db`);
  return {
    place: async (name) => fileOf(name),
    open: openSqlitePlace,
    claimer: async (name) => BackendSqlite.connect(fileOf(name), { namespaceId: NAMESPACE }),
    copyParked: async (name) => copyParked(fileOf(name)),
    bytes: async (name) => statSync(fileOf(name)).size,
    close: async () => undefined,
  };
}

/** @param {string} file */
export async function openSqlitePlace(file) {
  const [store, engine] = [openSqliteStore({ file }), openSqliteEngine({ file })];
  if (!store.ok || !engine.ok) throw new Error("SQLite cannot be opened.");
  return { journal: store.value.journal, engine: engine.value, close: () => engine.value.close() };
}

/** @param {string} file */
function copyParked(file) {
  const database = new DatabaseSync(file);
  const columns = database.prepare("SELECT name FROM pragma_table_info('workflow_runs')").all();
  const names = columns.map(({ name }) => String(name));
  /** @type {Readonly<Record<string, string>>} */
  const changed = { id: "id || '-' || i", workflow_name: "'parked-' || i" };
  const values = names.map((name) => changed[name] ?? `"${name}"`);
  database.exec(`INSERT INTO workflow_runs (${names.map((name) => `"${name}"`).join(", ")})
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PARKED - 1})
    SELECT ${values.join(", ")} FROM workflow_runs, n;
    PRAGMA wal_checkpoint(TRUNCATE);`);
  database.close();
}
