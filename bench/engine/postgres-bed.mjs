/** The engine on Postgres for the bench: a server with its own settings, and a database for each measurement. */
import { join } from "node:path";
import { openPostgresEngine, openPostgresStore } from "@metier/durable/postgres";
import { BackendPostgres } from "openworkflow/postgres";
import postgres from "postgres";
import { makeDatabase, runSql, startCluster } from "../../scripts/postgres/cluster.mjs";
import { PARKED, QUEUED, SAMPLES, TENANTS } from "./sizes.mjs";

/** Like the engine's own connections: they see all tenants, and use the indexes that exist everywhere. */
const SETTINGS = { "metier.tenant": "*", synchronous_commit: "off", enable_seqscan: "off" };

/** Rows that come by the thousand are known to the planner within a minute, and here they come in a second. */
const ANALYZE = "ANALYZE openworkflow.workflow_runs, metier.engine_queue, metier.engine_tenants";

/** @typedef {Awaited<ReturnType<typeof openPostgresBed>>} PostgresBed */

/** @param {string} folder */
export async function openPostgresBed(folder) {
  const cluster = await startCluster({ folder: join(folder, "cluster"), isDurable: true });
  /** @type {Map<string, { readonly adminUrl: string, readonly url: string }>} */
  const databases = new Map();
  const urlsOf = (/** @type {string} */ name) => {
    const urls = databases.get(name) ?? makeDatabase(cluster, name);
    databases.set(name, urls);
    return urls;
  };
  const superUrl = (/** @type {string} */ name) => cluster.superUrl.replace(/[^/]*$/, name);
  /** @type {import("./beds.mjs").Bed} */
  const bed = {
    place: async (name) => JSON.stringify(urlsOf(name)),
    open: openPostgresPlace,
    claimer: async (name) => {
      const sql = openEngineConnection(urlsOf(name).url);
      const backend = BackendPostgres.fromPool(sql, { namespaceId: "metier" });
      for (let number = 0; number < 10; number++) await sql`SELECT 1`; // Connected before measuring starts.
      return backend;
    },
    copyParked: async (name) => copyParked(superUrl(name)),
    bytes: async (name) =>
      Number(runSql(superUrl(name), "SELECT pg_total_relation_size('openworkflow.workflow_runs')")),
    close: () => cluster.stop(),
  };
  return { ...bed, measureReleases: () => measureReleases(bed, superUrl, (name) => urlsOf(name).url) };
}

/** @param {string} place */
export async function openPostgresPlace(place) {
  const { url, adminUrl } = JSON.parse(place);
  const store = await openPostgresStore({ url, adminUrl });
  if (!store.ok) throw new Error(store.refusal.message);
  const engine = openPostgresEngine({ url });
  const close = async () => {
    await engine.close();
    await store.value.close();
  };
  return { journal: store.value.journal, engine, close };
}

/** @param {string} url */
function openEngineConnection(url) {
  return postgres(url, {
    max: 1,
    fetch_types: false,
    connection: SETTINGS,
    transform: { column: { from: postgres.toCamel } },
  });
}

/** @param {string} url */
function copyParked(url) {
  const columns = runSql(
    url,
    "SELECT string_agg(column_name, ',') FROM information_schema.columns WHERE table_schema = 'openworkflow' AND table_name = 'workflow_runs'",
  );
  /** @type {Readonly<Record<string, string>>} */
  const changed = { id: "id || '-' || i", workflow_name: "'parked-' || i" };
  const values = columns.split(",").map((name) => changed[name] ?? name);
  runSql(
    url,
    `INSERT INTO openworkflow.workflow_runs (${columns})
     SELECT ${values.join(", ")} FROM openworkflow.workflow_runs, generate_series(1, ${PARKED - 1}) AS i;
     ${ANALYZE}`,
  );
}

/**
 * From the queue to openworkflow: with all runs of one tenant, of one whose first user is at the limit, and of many
 * tenants.
 *
 * @param {import("./beds.mjs").Bed} bed
 * @param {(name: string) => string} superUrl
 * @param {(name: string) => string} urlOf
 * @returns {Promise<Record<"oneTenant" | "heldUser" | "manyTenants", number[]>>}
 */
async function measureReleases(bed, superUrl, urlOf) {
  const name = "releases";
  await (await bed.open(await bed.place(name))).close();
  const sql = openEngineConnection(urlOf(name));
  await sql`SELECT metier.engine_offer(true)`;
  const release = async () => {
    /** @type {number[]} */ const times = [];
    for (let number = 0; number < SAMPLES; number++) {
      const from = performance.now();
      await sql`SELECT metier.engine_offer(true)`;
      times.push(performance.now() - from);
    }
    return times;
  };
  const fill = (
    /** @type {string} */ tenant,
    /** @type {string} */ user,
    /** @type {string} */ limit,
    count = QUEUED,
  ) =>
    runSql(
      superUrl(name),
      `TRUNCATE metier.engine_queue, metier.engine_tenants; TRUNCATE openworkflow.workflow_runs CASCADE;
       INSERT INTO metier.engine_queue (tenant, run_id, user_id, priority, due_at)
         SELECT ${tenant}, 'run-' || i, ${user}, 0, now() FROM generate_series(1, ${count}) AS i;
       INSERT INTO metier.engine_tenants (tenant, next_at, per_user) SELECT DISTINCT tenant, now(), ${limit} FROM metier.engine_queue;
       ${ANALYZE}`,
    );
  fill("'one'", "'u'", "NULL::integer");
  const oneTenant = await release();
  fill("'one'", `CASE WHEN i <= ${QUEUED - SAMPLES * 2} THEN 'held' ELSE 'u' || i END`, "1");
  const heldUser = await release();
  fill("'t' || i", "''", "1", TENANTS);
  const manyTenants = await release();
  await sql.end();
  return { oneTenant, heldUser, manyTenants };
}
