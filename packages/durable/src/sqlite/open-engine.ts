/** The engine on openworkflow's SQLite backend: best in the file of the journal, so that flushing one flushes both. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { done, type Result } from "@metier/base/result";
import { BackendSqlite } from "openworkflow/sqlite";
import { createEngine } from "../engine/create-engine.ts";
import type { RunEngine } from "../run-engine.ts";
import { ENGINE_SCHEMA, endLeases, openEngineQueue } from "./engine-queue.ts";
import { BUSY_TIMEOUT_MS, openDatabase, type Schema } from "./open-database.ts";

/** Where all runs are that any worker may advance. */
const SHARED_LANE = "metier";

interface EngineFile {
  readonly file: string;
  /** Engines see only the runs of their lane. Default: the one that all workers share. */
  readonly lane?: string | undefined;
  /** No other process works on the file: nobody waits for the leases of one that was killed. */
  readonly isAlone?: boolean;
}

/** Nothing of its own: it only opens the file as ours are opened. */
const NO_SCHEMA: Schema = { name: "file", migrations: [] };

/** Made when it is not there. Refused as `openSqliteStore` is. */
export function openSqliteEngine({
  file,
  lane = SHARED_LANE,
  isAlone = false,
}: EngineFile): Result<RunEngine> {
  // First by us: with a mode, a log and a wait for others, and with a refusal for what is no database.
  const first = openDatabase(file, NO_SCHEMA);
  if (!first.ok) return first;
  try {
    const backend = BackendSqlite.connect(file, { namespaceId: lane });
    tune(backend);
    const opened = openDatabase(file, ENGINE_SCHEMA);
    if (!opened.ok) {
      void backend.stop();
      return opened;
    }
    if (isAlone) endLeases(opened.value, lane);
    return done(createEngine({ backend, queue: openEngineQueue(opened.value, lane) }));
  } finally {
    first.value.close();
  }
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
