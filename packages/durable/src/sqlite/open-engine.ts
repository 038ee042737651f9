/** The engine on openworkflow's SQLite backend: best in the journal's file, so that flushing one flushes both. */
import type { DatabaseSync } from "node:sqlite";
import { done, type Result } from "@metier/base/result";
import { BackendSqlite } from "openworkflow/sqlite";
import { createEngine } from "../engine/create-engine.ts";
import { newWorkflowRun } from "../engine/engine-queue.ts";
import type { RunEngine } from "../run-engine.ts";
import { endLeases, openEngineQueue } from "./engine-queue.ts";
import { ENGINE_SCHEMA } from "./engine-schema.ts";
import { type Database, openDatabase, type Schema } from "./open-database.ts";

/** The lane of all runs that any worker may advance. */
const SHARED_LANE = "metier";

/** Nobody else works on the file, so this is only for timers. */
const POLL_MS = 250;

interface EngineFile {
  readonly file: string;
  /** An engine sees only the runs of its lane. Default: the one that all workers share. */
  readonly lane?: string | undefined;
  /** No other process works on the file, so nobody waits for the leases of a killed one. */
  readonly isAlone?: boolean;
}

/** Created if it doesn't exist. Refused for the same reasons as `openSqliteStore`. */
export function openSqliteEngine({
  file,
  lane = SHARED_LANE,
  isAlone = false,
}: EngineFile): Result<RunEngine> {
  const opened = openDatabase(file, NO_SCHEMA); // Ours first: sets its mode, and refuses what isn't a database.
  if (!opened.ok) return opened;
  const backend = connectBackend(file, lane, opened.value);
  const queue = openDatabase(file, ENGINE_SCHEMA);
  if (!queue.ok) {
    void backend.stop();
    return queue;
  }
  if (isAlone) endLeases(queue.value, lane);
  // Its statements run during the call; the promise only reports that.
  const createRun = (runId: string): void => void backend.createWorkflowRun(newWorkflowRun(runId));
  const close = async (): Promise<void> => {
    await backend.stop();
    queue.value.close();
  };
  const parts = { backend, queue: openEngineQueue({ database: queue.value, lane, createRun }), close };
  return done(createEngine({ ...parts, pollMs: POLL_MS }));
}

/** No tables: it only opens the file the way ours are opened, before openworkflow does. */
const NO_SCHEMA: Schema = { name: "file", migrations: [] };

/**
 * openworkflow opens its own connection and has no option for what it lacks: waiting a moment when another connection
 * is busy, statements that are prepared once, and commits that don't wait for the disk, which are a hundred times
 * cheaper. So it creates its tables on that connection and then works on ours. A power cut may lose its last commits;
 * at startup, Metier looks for runs that the journal has and the engine forgot (`catchUp`).
 */
function connectBackend(file: string, lane: string, database: Database): BackendSqlite {
  const { statement, exec, close } = database;
  const backend = BackendSqlite.connect(file, { namespaceId: lane });
  const own = backend as unknown as { db: Pick<DatabaseSync, "prepare" | "exec" | "close"> };
  own.db.close();
  const ends: ReadonlySet<string> = new Set(["BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"]);
  own.db = {
    prepare: statement,
    exec: (sql) => (ends.has(sql) ? void statement(sql).run() : exec(sql)),
    close,
  };
  groupCalls(backend, database);
  return backend;
}

/** Methods called for every run: one statement each, which runs during the call. */
function groupCalls(backend: BackendSqlite, { change }: Database): void {
  const grouped =
    <Params, Value>(call: (params: Params) => Promise<Value>) =>
    async (params: Params): Promise<Value> => {
      const { called } = await change(() => {
        const promise = call.call(backend, params);
        promise.catch(() => undefined); // Reported to the caller, unless the change is repeated.
        return { called: promise };
      });
      return called;
    };
  backend.completeWorkflowRun = grouped(backend.completeWorkflowRun);
  backend.extendWorkflowRunLease = grouped(backend.extendWorkflowRunLease);
}
