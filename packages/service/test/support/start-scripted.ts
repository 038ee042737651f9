/** A service over SQLite in a folder, whose runs do what their message says; in a test, or in a process of its own. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "@metier/base/result";
import { once } from "@metier/base/turns";
import type { RunEngine } from "@metier/durable";
import { openMasterKey } from "@metier/durable/snapshots";
import { openSqliteEngine, openSqliteStore, type SqliteStore } from "@metier/durable/sqlite";
import { createMetier, type MetierOptions } from "@metier/runtime";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { openLocalInsight } from "../../src/local/open-insight.ts";
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
  const shelf = openFolderShelf({
    folder: join(folder, "shelf"),
    records: store.records,
    listOwn: async () => [{ name: "greet", description: "Says hello.", trust: "trusted" }],
    now,
  });
  const home = join(folder, "home");
  mkdirSync(join(home, "elsewhere"), { recursive: true });
  const open = (more: MetierOptions) =>
    createMetier({
      home,
      cwd: join(home, "elsewhere"),
      environment: {},
      bundled: false,
      conflicts: "report",
      trust: "grants",
      ...more,
    });
  const insight = openLocalInsight({
    own: once(() => open({})),
    openFolders: (paths, trustedPaths) =>
      open({ paths, trustedPaths, config: { skills: { "auto-discover": false } } }),
    shelf,
    evalFolders: [join(home, "elsewhere")],
    secretNames: async () => [],
    hiddenFolders: [[home, "~"]],
  });
  const service = await startService({
    store,
    engine,
    openAdvance: scriptRuns(script),
    shelf,
    insight,
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
  return {
    store,
    engine,
    service: {
      ...service,
      async stop(graceMs) {
        insight.close();
        await service.stop(graceMs);
      },
    },
  };
}

function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
