/**
 * Before a service uses a database: its role must be restricted to its tenants' rows, and the schema must be the one
 * this Metier knows.
 */
import { done, type Refusal, type Result, refused } from "@metier/base/result";
import { describeServer, refuseFault } from "./describe-server.ts";
import { insist } from "./insist.ts";
import { ENGINE_SCHEMA, findNewer, MIGRATIONS, readSchemaVersions, START_PATIENCE_MS } from "./migrate.ts";
import { openPool, type Pool } from "./open-pool.ts";

export async function checkRole(url: string): Promise<Result<void>> {
  try {
    const refusal = await insist(() => findRefusal(url), START_PATIENCE_MS);
    return refusal ? refused(refusal) : done(undefined);
  } catch (fault) {
    return refuseFault(openPool(url, { most: 1 }), fault);
  }
}

async function findRefusal(url: string): Promise<Refusal | undefined> {
  const pool = openPool(url, { most: 1 });
  try {
    return (await findPower(pool)) ?? (await findOther(pool));
  } finally {
    await pool.end({ timeout: 0 });
  }
}

/** Including what it can get with SET ROLE. */
async function findPower(pool: Pool): Promise<Refusal | undefined> {
  const [row] = await pool`
    SELECT bool_or(rolsuper) AS is_superuser, bool_or(rolbypassrls) AS may_bypass,
      (SELECT string_agg(DISTINCT relname, ', ') FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname IN ('metier', ${ENGINE_SCHEMA}) AND relkind IN ('r', 'p')
          AND pg_has_role(current_user, relowner, 'MEMBER')) AS owned
    FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')`;
  const role = `The role \`${pool.options.user}\` of the database URL`;
  const hint = `Use a role that can only connect: CREATE ROLE "metier" LOGIN PASSWORD '…'; then start once with METIER_DATABASE_ADMIN_URL, which grants it what it needs.`;
  if (row?.is_superuser === true) {
    return { message: `${role} is a superuser, so it would see every tenant's rows.`, hint };
  }
  if (row?.may_bypass === true) {
    return { message: `${role} has BYPASSRLS, so it would see every tenant's rows.`, hint };
  }
  if (typeof row?.owned === "string") {
    return {
      message: `${role} owns Metier's tables (${row.owned}), so it could see every tenant's rows.`,
      hint,
    };
  }
  return undefined;
}

async function findOther(pool: Pool): Promise<Refusal | undefined> {
  const server = describeServer(pool);
  const [schema] = await pool`
    SELECT has_schema_privilege(oid, 'USAGE') AS may_use FROM pg_namespace WHERE nspname = 'metier'`;
  const start = "Start once with METIER_DATABASE_ADMIN_URL, the URL of the role that owns the database.";
  if (schema?.may_use === false) {
    return {
      message: `The role \`${pool.options.user}\` may not use the tables in \`${server}\`.`,
      hint: start,
    };
  }
  const versions = await readSchemaVersions(pool);
  if (versions.size === 0) {
    return { message: `The database \`${server}\` has no Metier tables yet.`, hint: start };
  }
  const older = Object.entries(MIGRATIONS).find(([name, { length }]) => (versions.get(name) ?? 0) < length);
  if (older === undefined) return findNewer(pool, server, MIGRATIONS);
  const [name, { length }] = older;
  return {
    message: `The database \`${server}\` was migrated by an older Metier: its ${name} is at version ${versions.get(name) ?? 0}, but this one needs ${length}.`,
    hint: start,
  };
}
