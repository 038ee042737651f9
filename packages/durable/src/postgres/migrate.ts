/**
 * Upgrades the schema to this Metier's version, as the role that owns it, and grants the services' role access. Forward
 * only, in one transaction under a lock: if many start at once, one migrates and the others find it done.
 */
import { done, type Refusal, type Result, refused } from "@metier/base/result";
import type { ReservedSql } from "postgres";
import { describeServer, refuseFault } from "./describe-server.ts";
import { ENGINE_MIGRATIONS } from "./engine-schema.ts";
import { insist } from "./insist.ts";
import { openPool, type Pool } from "./open-pool.ts";
import { readUrl } from "./read-url.ts";
import { STORE_MIGRATIONS } from "./schema.ts";

/** By what they belong to. Each upgrades the previous version to its own, the first to 1. */
type Migrations = Readonly<Record<"store" | "engine", readonly string[]>>;

export const MIGRATIONS: Migrations = { store: STORE_MIGRATIONS, engine: ENGINE_MIGRATIONS };

/** Where openworkflow has its tables. */
export const ENGINE_SCHEMA = "openworkflow";

/** How long to wait at startup for a server that is starting too. */
export const START_PATIENCE_MS = 10_000;

/** Any number that nobody else locks: "metier". */
const LOCK = 0x6d_65_74_69_65_72;
/** The first version with views that return only the rows the caller may see. */
const OLDEST_SERVER = 150_000;

interface MigrationUrls {
  readonly adminUrl: string;
  /** The role that services use. */
  readonly url: string;
}

export async function migrate(
  { adminUrl, url }: MigrationUrls,
  migrations: Migrations = MIGRATIONS,
): Promise<Result<void>> {
  const runtime = openPool(url, { most: 1 }).options.user;
  return insist(() => migrateBy(adminUrl, runtime, migrations), START_PATIENCE_MS).catch((fault: unknown) =>
    refuseFault(openPool(adminUrl, { most: 1 }), fault),
  );
}

/** On its own connections, which end with whatever a failed attempt leaves behind. */
async function migrateBy(adminUrl: string, runtime: string, migrations: Migrations): Promise<Result<void>> {
  const admin = openPool(adminUrl, { most: 1, hasTransactions: true });
  try {
    const refusal =
      (await checkRoles(admin, runtime)) ?? (await bringAllUp(admin, adminUrl, runtime, migrations));
    return refusal ? refused(refusal) : done(undefined);
  } finally {
    await admin.end({ timeout: 0 });
  }
}

async function bringAllUp(
  admin: Pool,
  adminUrl: string,
  runtime: string,
  migrations: Migrations,
): Promise<Refusal | undefined> {
  const { BackendPostgres } = await import("openworkflow/postgres");
  const connection = await admin.reserve();
  await connection.unsafe("BEGIN");
  await connection`SELECT pg_advisory_xact_lock(${LOCK})`;
  const newer = await findNewer(connection, describeServer(admin), migrations);
  if (newer) return newer;
  // On a separate connection: this one holds the lock.
  const backend = await BackendPostgres.connect(withMode(adminUrl), {
    runMigrations: true,
    schema: ENGINE_SCHEMA,
  });
  await backend.stop();
  for (const [name, list] of Object.entries(migrations)) await bringUp(connection, name, list);
  await connection.unsafe(grants(runtime));
  await connection.unsafe("COMMIT");
  return undefined;
}

/** openworkflow opens its own connection, and should do it the way we do. */
function withMode(adminUrl: string): string {
  const mode = readUrl(adminUrl);
  const url = new URL(adminUrl);
  if (mode.ok) url.searchParams.set("sslmode", mode.value);
  return url.href;
}

async function checkRoles(admin: Pool, runtime: string): Promise<Refusal | undefined> {
  const { user } = admin.options;
  const role = quoteName(runtime);
  if (user === runtime) {
    return {
      message: `METIER_DATABASE_ADMIN_URL and the database URL both use the role \`${user}\`: it would own the tables, which a service's role must not.`,
      hint: `Use two roles. For services: CREATE ROLE "metier" LOGIN PASSWORD '…';`,
    };
  }
  const [found] = await admin`
    SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = ${runtime}) AS is_known,
      current_setting('server_version_num')::integer AS version`;
  if (Number(found?.version) < OLDEST_SERVER) {
    return {
      message: `Postgres at \`${describeServer(admin)}\` is version ${found?.version}; Metier needs 15 or newer.`,
      hint: "Use a newer server.",
    };
  }
  if (found?.is_known === true) return undefined;
  return {
    message: `The database URL names the role \`${runtime}\`, which does not exist at \`${describeServer(admin)}\`.`,
    hint: `Create it: CREATE ROLE ${role} LOGIN PASSWORD '…';`,
  };
}

/** Versions by name; empty if nothing was ever migrated. */
export async function readSchemaVersions(sql: Pool | ReservedSql): Promise<ReadonlyMap<string, number>> {
  const [table] = await sql`SELECT to_regclass('metier.migrations') IS NOT NULL AS is_there`;
  if (table?.is_there !== true) return new Map();
  const rows = await sql`SELECT name, max(version) AS version FROM metier.migrations GROUP BY name`;
  return new Map(rows.map((row) => [String(row.name), Number(row.version)]));
}

export async function findNewer(
  sql: Pool | ReservedSql,
  server: string,
  migrations: Migrations,
): Promise<Refusal | undefined> {
  const versions = await readSchemaVersions(sql);
  for (const [name, { length }] of Object.entries(migrations)) {
    const version = versions.get(name) ?? 0;
    if (version > length) {
      return {
        message: `The database \`${server}\` was migrated by a newer Metier: its ${name} is at version ${version}, but this one only knows ${length}.`,
        hint: "Use the newer Metier, or another database.",
      };
    }
  }
  return undefined;
}

async function bringUp(connection: ReservedSql, name: string, list: readonly string[]): Promise<void> {
  await connection.unsafe(
    `CREATE SCHEMA IF NOT EXISTS metier;
     CREATE TABLE IF NOT EXISTS metier.migrations
       (name text NOT NULL, version integer NOT NULL, at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (name, version));`,
  );
  const version = (await readSchemaVersions(connection)).get(name) ?? 0;
  for (const [index, sql] of list.entries()) {
    if (index < version) continue;
    await connection.unsafe(sql);
    await connection`INSERT INTO metier.migrations (name, version) VALUES (${name}, ${index + 1})`;
  }
}

/** Repeated with every migration, because new tables and new roles need them. Nobody may change the audit log. */
function grants(runtime: string): string {
  const role = quoteName(runtime);
  return `
GRANT USAGE ON SCHEMA metier, ${ENGINE_SCHEMA} TO ${role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA metier, ${ENGINE_SCHEMA} TO ${role};
REVOKE INSERT, UPDATE, DELETE ON metier.migrations, ${ENGINE_SCHEMA}.openworkflow_migrations FROM ${role};
REVOKE UPDATE, DELETE ON metier.audit FROM ${role};
`;
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
