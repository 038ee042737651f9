/** The engine on openworkflow's SQLite backend: best in the file of the journal, so that flushing one flushes both. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { done, type Result } from "@metier/base/result";
import { BackendSqlite } from "openworkflow/sqlite";
import { createEngine } from "../engine/create-engine.ts";
import type { RunEngine } from "../run-engine.ts";
import { ENGINE_SCHEMA, openEngineQueue } from "./engine-queue.ts";
import { loadSqlite } from "./load-sqlite.ts";
import { BUSY_TIMEOUT_MS, openDatabase } from "./open-database.ts";
import { makePrivateFile } from "./private-file.ts";

const NAMESPACE = "metier";

/** Made when it is not there. Refused as `openSqliteStore` is. */
export function openSqliteEngine({ file }: { readonly file: string }): Result<RunEngine> {
  const sqlite = loadSqlite();
  if (!sqlite.ok) return sqlite;
  makePrivateFile(file);
  const backend = BackendSqlite.connect(file, { namespaceId: NAMESPACE });
  tune(backend);
  const opened = openDatabase(file, ENGINE_SCHEMA);
  if (opened.ok) return done(createEngine({ backend, queue: openEngineQueue(opened.value, NAMESPACE) }));
  void backend.stop();
  return opened;
}

/**
 * The connection is openworkflow's own, and it has no option for what is missing: waiting for a moment when another one is
 * busy; statements that are prepared once; and commits that do not wait for the disk, a hundred times cheaper. A power cut may
 * take the last of those, and a start looks for runs that the journal has and the engine forgot (`catchUp`).
 */
function tune(backend: BackendSqlite): void {
  const { db } = backend as unknown as { readonly db: DatabaseSync };
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = NORMAL;`);
  const prepare = db.prepare.bind(db);
  const prepared = new Map<string, StatementSync>();
  db.prepare = (sql, ...rest) => {
    const known = prepared.get(sql) ?? prepare(sql, ...rest);
    prepared.set(sql, known);
    return known;
  };
}
