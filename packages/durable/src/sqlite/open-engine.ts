/** The engine on openworkflow's SQLite backend: best in the file of the journal, so that flushing one flushes both. */
import type { DatabaseSync } from "node:sqlite";
import { done, type Result } from "@metier/base/result";
import { BackendSqlite } from "openworkflow/sqlite";
import { createEngine } from "../engine/create-engine.ts";
import { newWorkflowRun } from "../engine/engine-queue.ts";
import type { RunEngine } from "../run-engine.ts";
import { endLeases, openEngineQueue } from "./engine-queue.ts";
import { ENGINE_SCHEMA } from "./engine-schema.ts";
import { type Database, openDatabase, type Schema } from "./open-database.ts";

/** Where all runs are that any worker may advance. */
const SHARED_LANE = "metier";

/** Nobody else works on the file, so this is for timers. */
const POLL_MS = 250;

interface EngineFile {
  readonly file: string;
  /** Engines see only the runs of their lane. Default: the one that all workers share. */
  readonly lane?: string | undefined;
  /** No other process works on the file: nobody waits for the leases of one that was killed. */
  readonly isAlone?: boolean;
}

/** Made when it is not there. Refused as `openSqliteStore` is. */
export function openSqliteEngine({
  file,
  lane = SHARED_LANE,
  isAlone = false,
}: EngineFile): Result<RunEngine> {
  const opened = openDatabase(file, NO_SCHEMA); // First by us: with a mode, and with a refusal for what is no database.
  if (!opened.ok) return opened;
  const backend = connectBackend(file, lane, opened.value);
  const queue = openDatabase(file, ENGINE_SCHEMA);
  if (!queue.ok) {
    void backend.stop();
    return queue;
  }
  if (isAlone) endLeases(queue.value, lane);
  // Its statements are executed when it is called; the promise only says so.
  const createRun = (runId: string): void => void backend.createWorkflowRun(newWorkflowRun(runId));
  const close = async (): Promise<void> => {
    await backend.stop();
    queue.value.close();
  };
  const parts = { backend, queue: openEngineQueue({ database: queue.value, lane, createRun }), close };
  return done(createEngine({ ...parts, pollMs: POLL_MS }));
}

/** Nothing of its own: it only opens the file as ours are opened, before openworkflow does. */
const NO_SCHEMA: Schema = { name: "file", migrations: [] };

/**
 * openworkflow opens a connection of its own, and has no option for what is missing there: waiting for a moment when another
 * one is busy; statements that are prepared once; and commits that do not wait for the disk, a hundred times cheaper. So it
 * makes its tables by that one, and then works by ours. A power cut may take the last of its commits, and a start looks for
 * runs that the journal has and the engine forgot (`catchUp`).
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

/** Of those that are made for every run: one statement each, which is executed when they are called. */
function groupCalls(backend: BackendSqlite, { change }: Database): void {
  const grouped =
    <Params, Value>(call: (params: Params) => Promise<Value>) =>
    async (params: Params): Promise<Value> => {
      const { called } = await change(() => {
        const promise = call.call(backend, params);
        promise.catch(() => undefined); // Told to who made the call, unless the change is made again.
        return { called: promise };
      });
      return called;
    };
  backend.completeWorkflowRun = grouped(backend.completeWorkflowRun);
  backend.extendWorkflowRunLease = grouped(backend.extendWorkflowRunLease);
}
