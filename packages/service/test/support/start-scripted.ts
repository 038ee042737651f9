/** A service over SQLite in a folder, whose runs do what their message says; in a test, or in a process of its own. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "@metier/base/result";
import type { RunEngine } from "@metier/durable";
import { openMasterKey } from "@metier/durable/snapshots";
import { openSqliteEngine, openSqliteStore, type SqliteStore } from "@metier/durable/sqlite";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { openFolderShelf } from "../../src/shelf/folder-shelf.ts";
import { type RunningService, type ServiceOptions, startService } from "../../src/start-service.ts";
import { type ScriptOptions, scriptRuns } from "./scripted-run.ts";

interface Scripted {
  readonly folder: string;
  readonly script?: ScriptOptions | undefined;
  readonly options?: Partial<ServiceOptions>;
}

interface Started {
  readonly store: SqliteStore;
  readonly engine: RunEngine;
  readonly service: RunningService;
}

export async function startScripted({ folder, script, options = {} }: Scripted): Promise<Started> {
  const store = required(openSqliteStore({ file: join(folder, "state", "metier.db") }));
  const engine = required(openSqliteEngine({ file: join(folder, "state", "engine.db") }));
  const { now = Date.now } = options;
  const service = await startService({
    store,
    engine,
    openAdvance: scriptRuns(script),
    shelf: openFolderShelf({
      folder: join(folder, "shelf"),
      records: store.records,
      listOwn: async () => [{ name: "greet", description: "Says hello.", trust: "trusted" }],
      now,
    }),
    masterKey: required(openMasterKey({ environment: {}, file: join(folder, "master-key") })),
    async workFolder(runId) {
      const work = join(folder, "work", runId);
      mkdirSync(work, { recursive: true });
      return work;
    },
    adminKey: ADMIN_KEY,
    times: { sweepMs: 50 },
    ...options,
  });
  return { store, engine, service };
}

function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
