/** How a database gets its tables, and who may work with it. */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { runSql } from "../../../scripts/postgres/cluster.mjs";
import { describeWithPostgres, newDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { forTenant } from "../src/index.ts";
import { MIGRATIONS, migrate } from "../src/postgres/migrate.ts";
import { openPostgresStore } from "../src/postgres.ts";
import { required } from "./support/sqlite.ts";

const PROGRAM = fileURLToPath(new URL("./support/migrate-process.ts", import.meta.url));
const RUN = { id: "r1", tenant: "acme", order: {} };

async function open(place: { readonly url: string; readonly adminUrl?: string }) {
  const opened = await openPostgresStore({ ...place, poolSize: 1 });
  if (opened.ok) onTestFinished(() => opened.value.close());
  return opened;
}

/** Why it is not opened. */
async function refusalOf(place: { readonly url: string; readonly adminUrl?: string }): Promise<string> {
  const opened = await open(place);
  return opened.ok ? "opened" : `${opened.refusal.message} ${opened.refusal.hint}`;
}

function versions({ superUrl }: TestDatabase): string {
  const sql = "SELECT name, count(*), max(version) FROM metier.migrations GROUP BY name ORDER BY name";
  return runSql(superUrl, sql);
}

const NEWEST = [
  `engine|${MIGRATIONS.engine.length}|${MIGRATIONS.engine.length}`,
  `store|${MIGRATIONS.store.length}|${MIGRATIONS.store.length}`,
].join("\n");

/** A role that may connect, with what else is said; its URL. */
function newRole({ superUrl, url }: TestDatabase, options = ""): string {
  const name = `role_${randomBytes(6).toString("hex")}`;
  runSql(superUrl, `CREATE ROLE ${name} LOGIN ${options}`);
  return url.replace("//metier@", `//${name}@`);
}

describeWithPostgres("a database for Metier", () => {
  test("gets its tables from nothing, and once, from several processes at the same time", async () => {
    const database = await newDatabase({ isEmpty: true });
    const run = promisify(execFile);
    const start = () => run(process.execPath, [PROGRAM, database.adminUrl, database.url]);
    const all = await Promise.all([start(), start(), start()]);
    expect(all.map(({ stdout }) => JSON.parse(stdout))).toEqual(all.map(() => ({ ok: true })));
    expect(versions(database)).toBe(NEWEST);
    const { journal } = required(await open(database));
    expect(await forTenant("acme", () => journal.create(RUN))).toBe("created");
  });

  test("comes from an older version with what is in it", async () => {
    const database = await newDatabase({ isEmpty: true });
    const note = "CREATE TABLE metier.note (tenant text)";
    const older = { ...MIGRATIONS, store: [...MIGRATIONS.store, note] };
    const newest = { ...older, store: [...older.store, "ALTER TABLE metier.note ADD COLUMN more text"] };
    expect(await migrate(database, older)).toMatchObject({ ok: true });
    runSql(database.superUrl, "INSERT INTO metier.note VALUES ('acme')");
    expect(await migrate(database, newest)).toMatchObject({ ok: true });
    expect(await migrate(database, newest)).toMatchObject({ ok: true });
    expect(runSql(database.superUrl, "SELECT tenant, more IS NULL FROM metier.note")).toBe("acme|t");
    expect(runSql(database.url, "SELECT count(*) FROM metier.note")).toBe("1");
  });

  test("is left as it was by a migration that fails", async () => {
    const database = await newDatabase({ isEmpty: true });
    required(await migrate(database));
    const broken = {
      ...MIGRATIONS,
      store: [...MIGRATIONS.store, "CREATE TABLE metier.half (id text)", "SELECT 1 / 0"],
    };
    await expect(migrate(database, broken)).rejects.toThrow("division by zero");
    expect(versions(database)).toBe(NEWEST);
    expect(runSql(database.superUrl, "SELECT to_regclass('metier.half') IS NULL")).toBe("t");
  });

  test("is refused when its tables are older or newer than this version, and says what to do", async () => {
    const database = await newDatabase({ isEmpty: true });
    expect(await refusalOf({ url: database.url })).toContain("METIER_DATABASE_ADMIN_URL");
    required(await migrate(database, { ...MIGRATIONS, engine: MIGRATIONS.engine.slice(0, -1) }));
    expect(await refusalOf({ url: database.url })).toMatch(/older Metier.*METIER_DATABASE_ADMIN_URL/);
    required(await migrate(database));
    expect(await refusalOf({ url: database.url })).toBe("opened");
    required(await migrate(database, { ...MIGRATIONS, store: [...MIGRATIONS.store, "SELECT 1"] }));
    expect(await refusalOf({ url: database.url })).toContain("newer Metier");
    expect(await refusalOf(database)).toContain("newer Metier");
  });

  test("is not opened by a role that would see all tenants", async () => {
    const database = await newDatabase({ isEmpty: true });
    required(await migrate(database));
    expect(await refusalOf({ url: database.superUrl })).toContain("is a superuser");
    expect(await refusalOf({ url: newRole(database, "BYPASSRLS") })).toContain("BYPASSRLS");
    expect(await refusalOf({ url: database.adminUrl })).toMatch(/owns Metier's tables \(.*runs/);
    expect(await refusalOf({ url: newRole(database, "IN ROLE metier_admin") })).toContain(
      "owns Metier's tables",
    );
    expect(await refusalOf({ url: newRole(database, "NOINHERIT IN ROLE metier_admin") })).toContain(
      "owns Metier's tables",
    );
    expect(await refusalOf({ url: newRole(database) })).toMatch(/may not use.*METIER_DATABASE_ADMIN_URL/);
  });

  test("is opened by another role once that was granted what it needs", async () => {
    const database = await newDatabase({ isEmpty: true });
    required(await migrate(database));
    const url = newRole(database);
    const { journal } = required(await open({ url, adminUrl: database.adminUrl }));
    expect(await forTenant("acme", () => journal.create(RUN))).toBe("created");
    runSql(database.superUrl, `DROP OWNED BY ${new URL(url).username}`);
  });

  test("is refused with what to type when a role, the database or the server is not there", async () => {
    const { url, adminUrl } = await newDatabase({ isEmpty: true });
    const nobody = url.replace("//metier@", "//nobody_here@");
    expect(await refusalOf({ url: nobody, adminUrl })).toContain('CREATE ROLE "nobody_here" LOGIN');
    expect(await refusalOf({ url: adminUrl, adminUrl })).toContain("two roles");
    expect(await refusalOf({ url: nobody })).toContain("refused `nobody_here`");
    expect(await refusalOf({ url: url.replace(/[^/]*$/, "nothing") })).toContain(
      "There is no database `nothing`",
    );
    expect(await refusalOf({ url: `${url}?sslmode=require` })).toContain("TLS to Postgres");
    expect(await refusalOf({ url: `${url}?sslmode=maybe` })).toContain("`sslmode=maybe`");
    expect(await refusalOf({ url: "https://user:secret@localhost/db" })).toContain("not a Postgres URL");
    expect(await refusalOf({ url: "postgres://a:secret@one,two/db" })).not.toContain("secret");
  });
});
