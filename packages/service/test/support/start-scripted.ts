/** A service over SQLite in a folder, whose runs do what their message says; in a test, or in a process of its own. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "@metier/base/result";
import { once } from "@metier/base/turns";
import type { JournalStore, RecordStore, RunEngine } from "@metier/durable";
import {
  createSnapshotStore,
  openFolderBlobs,
  openMasterKey,
  openTenantKeys,
} from "@metier/durable/snapshots";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { createMetier, type MetierOptions } from "@metier/runtime";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { openLocalInsight } from "../../src/local/open-insight.ts";
import { openHomeSkills } from "../../src/shared/home-skills.ts";
import { openSkillShelf } from "../../src/shelf/open-shelf.ts";
import { openSkillContents } from "../../src/shelf/skill-contents.ts";
import { type RunningService, type ServiceOptions, startService } from "../../src/start-service.ts";
import { type ScriptOptions, scriptRuns } from "./scripted-run.ts";

/** What a service stands on; the same tests run over every store. */
export interface TestStores {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly engine: RunEngine;
  close(): Promise<void>;
}

export type OpenStores = (folder: string) => Promise<TestStores>;

const openSqlite: OpenStores = async (folder) => {
  const store = required(openSqliteStore({ file: join(folder, "state", "metier.db") }));
  const engine = required(openSqliteEngine({ file: join(folder, "state", "engine.db") }));
  return {
    ...store,
    engine,
    async close() {
      await engine.close();
      store.close();
    },
  };
};

interface Scripted {
  readonly folder: string;
  readonly openStores?: OpenStores | undefined;
  readonly script?: ScriptOptions | undefined;
  readonly options?: Partial<ServiceOptions>;
}

interface Started {
  readonly stores: TestStores;
  readonly service: RunningService;
}

export async function startScripted({
  folder,
  openStores = openSqlite,
  script,
  options = {},
}: Scripted): Promise<Started> {
  const stores = await openStores(folder);
  const { records, engine } = stores;
  const master = required(openMasterKey({ environment: {}, file: join(folder, "master-key") }));
  const { now = Date.now } = options;
  const tenantKeys = openTenantKeys({ records, master });
  const blobs = openFolderBlobs(join(folder, "blobs"));
  const snapshots = createSnapshotStore({ blobs, keys: tenantKeys });
  const greet = { name: "greet", description: "Says hello.", trust: "trusted", isForUsers: true } as const;
  const shelf = openSkillShelf({
    records,
    contents: openSkillContents({ folder: join(folder, "shelf"), snapshots, now }),
    home: openHomeSkills(async () => [greet], now),
    isShared: false,
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
    openServed: (paths, trustedPaths, withHome) =>
      open({ paths, trustedPaths, config: { skills: { "auto-discover": withHome } } }),
    shelf,
    evalFolders: [join(home, "elsewhere")],
    secretNames: async () => [],
    hiddenFolders: [[home, "~"]],
  });
  const service = await startService({
    store: stores,
    engine,
    openAdvance: scriptRuns(script),
    shelf,
    insight,
    tenantKeys,
    async workFolder(runId) {
      const work = join(folder, "work", runId);
      mkdirSync(work, { recursive: true });
      return work;
    },
    forget: {
      async tenant(tenant) {
        shelf.forget(tenant);
        await snapshots.clear(tenant);
      },
    },
    adminKey: ADMIN_KEY,
    times: { sweepMs: 50 },
    ...options,
  });
  return {
    stores,
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
