/** Machines with a home and a shelf each, over one record store and one object store, as separate processes have them. */
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import {
  forAllTenants,
  forTenant,
  type JournalStore,
  type RecordKey,
  type RecordStore,
  type TenantSnapshots,
} from "@metier/durable";
import { openPostgresStore } from "@metier/durable/postgres";
import {
  createSnapshotStore,
  openMasterKey,
  openObjectStore,
  openTenantKeys,
  readObjectStore,
  type TenantKeys,
} from "@metier/durable/snapshots";
import { openSqliteStore } from "@metier/durable/sqlite";
import { beforeAll, onTestFinished } from "vitest";
import { tarOf } from "../../../../test/support/archives.ts";
import { runObjectStore, type TestObjectStore } from "../../../../test/support/object-store.ts";
import { newDatabase } from "../../../../test/support/postgres.ts";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { type HomeSkill, openHomeSkills } from "../../src/shared/home-skills.ts";
import { openSkillShelf } from "../../src/shelf/open-shelf.ts";
import { openSkillContents } from "../../src/shelf/skill-contents.ts";
import type { SkillShelf } from "../../src/shelf/skill-shelf.ts";

type Blobs = Parameters<typeof createSnapshotStore>[0]["blobs"];

export interface SharedStores {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  /** The same for all tenants. */
  readonly everywhere: Pick<RecordStore, "get" | "put">;
  readonly blobs: Blobs;
  readonly keys: TenantKeys;
  readonly snapshots: TenantSnapshots;
  /** The same as another process has them. */
  reopen(): TenantSnapshots;
}

let store: TestObjectStore;

/** For all tests of a file: one object store, in which each has a place of its own. */
export function useObjectStore(): void {
  beforeAll(async () => {
    store = await runObjectStore();
    return store.stop;
  });
}

type Stores = Pick<SharedStores, "journal" | "records">;

function openSqlite(): Stores {
  const { journal, records, close } = required(
    openSqliteStore({ file: join(temporaryFolder(), "state.db") }),
  );
  onTestFinished(close);
  return { journal, records };
}

/** Under its row level security: whoever does not say for whom they ask sees nothing. */
export async function openPostgres(): Promise<Stores> {
  const { url, adminUrl } = await newDatabase();
  const { journal, records, close } = required(await openPostgresStore({ url, adminUrl }));
  onTestFinished(close);
  return { journal, records };
}

export async function openStores(
  wrap = (blobs: Blobs): Blobs => blobs,
  open: () => Stores | Promise<Stores> = openSqlite,
): Promise<SharedStores> {
  const folder = temporaryFolder();
  const { journal, records } = await open();
  const address = store.address.replace("?", `/${randomUUID()}?`);
  const blobs = wrap(required(await openObjectStore(required(readObjectStore(address, store.environment)))));
  const master = required(openMasterKey({ environment: {}, file: join(folder, "key") }));
  const keys = openTenantKeys({ records, master });
  const reopen = (): TenantSnapshots => createSnapshotStore({ blobs, keys });
  const everywhere = {
    get: (key: RecordKey) => forAllTenants(() => records.get(key)),
    put: (key: RecordKey, body: JsonObject, revision: number) =>
      forAllTenants(() => records.put(key, body, revision)),
  };
  return { journal, records, everywhere, blobs, keys, snapshots: reopen(), reopen };
}

export interface Machine {
  readonly shelf: SkillShelf;
  /** Where contents lie here. */
  readonly cache: string;
  /** Files of its home, by their paths. */
  writeHome(files: Readonly<Record<string, string>>): void;
}

/** `cache`: that of a machine before, as after a restart. */
export function openMachine(
  stores: SharedStores,
  { isShared = true, cache = temporaryFolder() } = {},
): Machine {
  const home = temporaryFolder();
  let time = Date.now();
  const now = (): number => {
    time += 10_000; // Nothing of a home is believed to be as it was a moment ago.
    return time;
  };
  return {
    cache,
    shelf: askForTenant(
      openSkillShelf({
        records: stores.records,
        contents: openSkillContents({ folder: cache, snapshots: stores.snapshots, now: Date.now }),
        home: openHomeSkills(async () => findHome(home), now),
        isShared,
        now: Date.now,
      }),
    ),
    writeHome: (files) => writeTree(home, files),
  };
}

/** As requests and workers ask: for the tenant that they are about, which is the first thing they say. */
function askForTenant(shelf: SkillShelf): SkillShelf {
  const scoped = Object.entries(shelf).map(([name, ask]: [string, (...given: unknown[]) => unknown]) => [
    name,
    (tenant: string, ...given: unknown[]) => forTenant(tenant, () => ask(tenant, ...given)),
  ]);
  return Object.fromEntries(scoped) as SkillShelf;
}

/** A folder for each skill, or a file. */
function findHome(home: string): readonly HomeSkill[] {
  mkdirSync(home, { recursive: true });
  return readdirSync(home).map((entry) => {
    const name = entry.replace(/\.md$/, "");
    const isFlat = entry.endsWith(".md");
    const directory = isFlat ? home : join(home, entry);
    const location = isFlat ? join(home, entry) : join(directory, "SKILL.md");
    if (!existsSync(location)) throw new Error(`There is no \`${location}\`.`);
    const content = { form: isFlat ? "markdown" : "directory", location, directory } as const;
    return { name, description: "Of the home.", trust: "trusted", isForUsers: true, content };
  });
}

export function archiveOf(name: string, body: string): Buffer {
  const content = skillText(`name: ${name}\ndescription: Does ${name}.`, body);
  return gzipSync(tarOf({ name: `${name}/SKILL.md`, content }));
}

export function required<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value;
}
