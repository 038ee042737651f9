/** The stores of a service on a real Postgres, with a database of their own for each folder. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openShared } from "@metier/durable/postgres";
import { runSql } from "../../../../scripts/postgres/cluster.mjs";
import { newDatabase, type TestDatabase } from "../../../../test/support/postgres.ts";
import type { OpenStores } from "./start-scripted.ts";

interface Place {
  readonly database: TestDatabase;
  readonly masterKey: string;
}

const places = new Map<string, Promise<Place>>();

/** Whoever opens a folder again finds what was there. */
export const openPostgresStores: OpenStores = async (folder) => {
  const place = places.get(folder) ?? makePlace();
  places.set(folder, place);
  const { database, masterKey } = await place;
  const opened = await openShared({
    databaseUrl: database.url,
    adminUrl: database.adminUrl,
    objectStore: pathToFileURL(join(folder, "objects")).href,
    environment: { METIER_MASTER_KEY: masterKey },
  });
  if (!opened.ok) throw new Error(opened.refusal.message);
  return opened.value;
};

async function makePlace(): Promise<Place> {
  return { database: await newDatabase(), masterKey: randomBytes(32).toString("hex") };
}

/** All rows of all tables, whoever they belong to. */
export async function dumpPostgres(folder: string): Promise<string> {
  const { superUrl } = (await places.get(folder))?.database ?? (await newDatabase());
  const tables = runSql(
    superUrl,
    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
  );
  return tables
    .split("\n")
    .map((table) => runSql(superUrl, `SELECT one::text FROM ${table} AS one`))
    .join("\n");
}
