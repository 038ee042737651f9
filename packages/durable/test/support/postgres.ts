/**
 * How the contract opens stores on Postgres; also loaded by the processes that it starts. A place is a folder with a file
 * that names the database.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestDatabase } from "../../../../test/support/postgres.ts";
import { openPostgresNotices } from "../../src/postgres/notices.ts";
import { openPostgresEngine } from "../../src/postgres/open-engine.ts";
import { openPostgresStore } from "../../src/postgres/open-store.ts";
import { forAllTenants } from "../../src/tenant-scope.ts";
import type { Opened } from "../contract/opened.ts";
import { required } from "./sqlite.ts";

export const DATABASE_FILE = "database.json";

export async function open(place: string): Promise<Opened> {
  const { url, adminUrl } = JSON.parse(readFileSync(join(place, DATABASE_FILE), "utf8")) as TestDatabase;
  const { journal, records, close } = required(await openPostgresStore({ url, adminUrl, poolSize: 4 }));
  const notices = openPostgresNotices({ url });
  const engine = openPostgresEngine({ url, ticks: notices.ticks });
  return {
    journal: seeingAll(journal),
    records: seeingAll(records),
    engine,
    async close() {
      await engine.close();
      await notices.close();
      await close();
    },
  };
}

/** The contract says nothing of scopes: it is held by one who may see all tenants. */
function seeingAll<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...values: unknown[]): unknown => forAllTenants(() => Reflect.apply(method, target, values));
    },
  });
}
