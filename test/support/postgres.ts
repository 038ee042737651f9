/**
 * A real Postgres for tests: one cluster for the whole test run, started by the first file that needs it, and a database for
 * each test. Where the programs are missing, such tests are skipped and say what to do; `METIER_REQUIRE_POSTGRES` makes that
 * a failure.
 */
import { randomBytes } from "node:crypto";
import { openPostgresStore } from "@metier/durable/postgres";
import { describe, onTestFinished } from "vitest";
import {
  type Cluster,
  dropDatabase,
  findPostgres,
  INSTALL_POSTGRES,
  makeDatabase,
  startCluster,
} from "../../scripts/postgres/cluster.mjs";
import { onlyOnce, sharedCluster } from "./shared-cluster.ts";

const isThere = findPostgres() !== undefined || Boolean(process.env.METIER_REQUIRE_POSTGRES);

/** `describe`, for tests that need Postgres. */
export const describeWithPostgres: (name: string, tests: () => void) => unknown = isThere
  ? describe
  : describe.skip;

if (!isThere) {
  process.stderr.write(
    `Tests on Postgres are skipped, since there is none here. To run them: ${INSTALL_POSTGRES}; then npm test\n`,
  );
}

export interface TestDatabase {
  /** Of the role that migrates, and of the one that services use. */
  readonly adminUrl: string;
  readonly url: string;
  /** May do everything, row level security or not. */
  readonly superUrl: string;
}

/** With the newest schema, or quite empty; gone when the test ends. */
export async function newDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const cluster = await sharedCluster();
  const name = `test_${randomBytes(8).toString("hex")}`;
  const urls = makeDatabase(cluster, name, isEmpty ? undefined : await migratedTemplate(cluster));
  onTestFinished(() => dropDatabase(cluster, name));
  return { ...urls, superUrl: cluster.superUrl.replace(/[^/]*$/, name) };
}

/** Migrated once for all tests: a copy of it is made in a tenth of the time. */
function migratedTemplate(cluster: Cluster): Promise<string> {
  return onlyOnce("template", async () => {
    const name = "test_template";
    const store = await openPostgresStore(makeDatabase(cluster, name));
    if (!store.ok) throw new Error(store.refusal.message);
    await store.value.close(); // Nobody may be connected to what is copied.
    return name;
  });
}

/** One of its own, for tests that stop it. */
export async function newCluster(folder: string): Promise<Cluster> {
  const cluster = await startCluster({ folder });
  onTestFinished(() => cluster.stop("SIGQUIT").catch(() => undefined));
  return cluster;
}
