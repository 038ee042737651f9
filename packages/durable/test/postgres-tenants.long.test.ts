/** On a database that tenants share, nobody sees or changes what is another's, also when a query forgets to say for whom it is. */
import { describe, expect, onTestFinished, test } from "vitest";
import { runSql } from "../../../scripts/postgres/cluster.mjs";
import { describeWithPostgres, newDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { forAllTenants, forTenant, type JournalStore, type RecordStore } from "../src/index.ts";
import { openPostgresStore, type PostgresStore } from "../src/postgres/open-store.ts";
import { required } from "./support/sqlite.ts";

const LEASE = { rootId: "r1", holder: "h", term: 1 };
const KEY = { tenant: "acme", kind: "agent", id: "a" };
const LINE = { tenant: "acme", actor: "key-1", action: "done", subject: "it" };

interface Opened extends PostgresStore, TestDatabase {}

/** With something of the tenant `acme` in every table. */
async function openWithRows(): Promise<Opened> {
  const urls = await newDatabase();
  const store = required(await openPostgresStore({ ...urls, poolSize: 2 }));
  onTestFinished(() => store.close());
  const { journal, records } = store;
  await forTenant("acme", async () => {
    await fill(journal, records, "acme");
  });
  return { ...store, ...urls };
}

async function fill(journal: JournalStore, records: RecordStore, tenant: string): Promise<void> {
  const run = { tenant, order: { of: tenant }, userId: "ada", skill: "greet" };
  await journal.create({ ...run, id: "r1" }, { ...LINE, tenant });
  await journal.create({ ...run, id: "ended" });
  await journal.take(LEASE);
  await journal.createChild(LEASE, { ...run, id: "child", parentId: "r1" });
  const ended = { ...LEASE, rootId: "ended" };
  await journal.take(ended);
  await journal.write(ended, { runId: "ended", status: "completed", result: { of: tenant } });
  await journal.write(LEASE, {
    runId: "r1",
    entries: [{ key: "step", value: { of: tenant }, snapshot: `snapshot of ${tenant}` }],
    events: [{ seq: 1, event: { of: tenant } }],
    questions: [{ id: "q1", key: "k", kind: "approval", body: { of: tenant }, expiresAt: 4e12 }],
    status: "waiting",
  });
  await records.put({ ...KEY, tenant }, { of: tenant }, 0, { ...LINE, tenant });
}

/** Those with a tenant, by who may do everything. */
function tables({ superUrl }: TestDatabase): readonly string[] {
  const sql = `SELECT format('%I.%I', table_schema, table_name) FROM information_schema.columns JOIN information_schema.tables
    USING (table_schema, table_name) WHERE column_name = 'tenant' AND table_type = 'BASE TABLE' AND table_schema = 'metier'`;
  return runSql(superUrl, sql).split("\n").sort();
}

/** All rows of all tables, so that any change shows. */
function everything(urls: TestDatabase): string {
  return tables(urls)
    .map(
      (table) =>
        `${table}: ${runSql(urls.superUrl, `SELECT row_to_json(t) FROM ${table} AS t ORDER BY t::text`)}`,
    )
    .join("\n");
}

/** Each method, asked for what is `acme`'s. */
function allMethods({ journal, records }: PostgresStore) {
  const child = { id: "c2", tenant: "acme", order: {}, parentId: "r1" };
  const ofJournal: Readonly<Record<Exclude<keyof JournalStore, "close">, () => Promise<unknown>>> = {
    create: () => journal.create({ id: "new", tenant: "acme", order: {} }, LINE),
    get: () => journal.get("r1"),
    list: () => journal.list({ tenant: "acme", limit: 9 }),
    usage: () => journal.usage({ tenant: "acme", by: "day", from: 0, to: 4e12 }),
    take: () => journal.take({ ...LEASE, holder: "thief", term: 9 }),
    write: () => journal.write(LEASE, { runId: "r1", entries: [{ key: "x", value: 1 }], status: "failed" }),
    createChild: () => journal.createChild(LEASE, child),
    entries: () => journal.entries("r1"),
    snapshots: () => journal.snapshots(),
    events: () => journal.events("r1", 0, 9),
    cancel: () => journal.cancel("r1", LINE),
    cancelled: () => journal.cancelled(["r1"]),
    question: () => journal.question("q1"),
    questionFor: () => journal.questionFor("r1", "k"),
    questions: () => journal.questions({ tenant: "acme", limit: 9 }),
    answer: () => journal.answer("q1", { status: "approved", by: "thief" }, LINE),
    expireQuestions: () => journal.expireQuestions(5e12),
    purge: () => journal.purge(5e12),
    forget: () => journal.forget("r1"),
    lastSnapshot: () => journal.lastSnapshot("r1"),
    countByStatus: () => journal.countByStatus("acme"),
  };
  const ofRecords: Readonly<Record<keyof RecordStore, () => Promise<unknown>>> = {
    put: () => records.put(KEY, { of: "thief" }, 1, LINE),
    get: () => records.get(KEY),
    find: () => records.find("agent", "a"),
    list: () => records.list({ tenant: "acme", kind: "agent", limit: 9 }),
    listAll: () => records.listAll("agent"),
    delete: () => records.delete(KEY, LINE),
    forgetTenant: () => records.forgetTenant("acme"),
    auditLines: () => records.auditLines("acme", 0, 9),
  };
  return {
    ...ofJournal,
    ...Object.fromEntries(Object.entries(ofRecords).map(([name, ask]) => [`${name} of records`, ask])),
  };
}

/** What each method answers where nothing is to be seen; what would write is refused. */
const NOTHING: Readonly<Record<string, unknown>> = {
  list: [],
  usage: [],
  entries: [],
  snapshots: [],
  events: [],
  cancelled: [],
  questions: [],
  answer: { kind: "unknown" },
  expireQuestions: [],
  purge: 0,
  forget: false,
  countByStatus: {},
  "list of records": [],
  "listAll of records": [],
  "delete of records": false,
  "forgetTenant of records": 0,
  "auditLines of records": [],
};
const REFUSED: readonly string[] = ["create", "take", "write", "createChild"];

async function expectNothing(
  opened: Opened,
  ask: (work: () => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const before = everything(opened);
  for (const [name, method] of Object.entries(allMethods(opened))) {
    const answer = await ask(method).catch((fault: unknown) => (fault instanceof Error ? "refused" : fault));
    expect([name, answer]).toEqual([name, REFUSED.includes(name) ? "refused" : NOTHING[name]]);
  }
  expect(everything(opened)).toBe(before);
}

describeWithPostgres("tenants on Postgres", () => {
  test("reach nothing of another by any method", async () => {
    const opened = await openWithRows();
    await expectNothing(opened, (method) => forTenant("other", method));
  });

  test("are seen by nobody who has not said for whom", async () => {
    const opened = await openWithRows();
    await expectNothing(opened, (method) => method());
  });

  test("may have everything under the same names", async () => {
    const { journal, records } = await openWithRows();
    await forTenant("other", () => fill(journal, records, "other"));
    for (const tenant of ["acme", "other"]) {
      await forTenant(tenant, async () => {
        expect(await journal.get("r1")).toMatchObject({ tenant, order: { of: tenant } });
        expect(await journal.entries("r1")).toEqual([{ key: "step", value: { of: tenant } }]);
        expect(await journal.events("r1", 0, 9)).toEqual([{ seq: 1, event: { of: tenant } }]);
        expect(await journal.question("q1")).toMatchObject({ tenant, body: { of: tenant } });
        expect(await journal.lastSnapshot("r1")).toBe(`snapshot of ${tenant}`);
        expect(await journal.list({ limit: 9 })).toHaveLength(3);
        expect(await records.find("agent", "a")).toMatchObject({ tenant, body: { of: tenant } });
        expect(await records.listAll("agent")).toHaveLength(1);
        expect((await records.auditLines(tenant, 0, 9)).map(({ seq }) => seq)).toEqual([1, 2]);
      });
    }
    await forTenant("acme", () => journal.forget("r1"));
    expect(await forTenant("other", () => journal.get("r1"))).toMatchObject({ tenant: "other" });
    expect(await forAllTenants(() => records.listAll("agent"))).toHaveLength(2);
  });

  describe("in every table", () => {
    test("have rows that a query without a tenant neither sees nor writes, by the runtime role and by the owner", async () => {
      const opened = await openWithRows();
      const before = everything(opened);
      expect(tables(opened).length).toBeGreaterThan(8);
      for (const table of tables(opened)) {
        const [row] = runSql(opened.superUrl, `SELECT row_to_json(t) FROM ${table} AS t LIMIT 1`).split("\n");
        for (const url of [opened.url, opened.adminUrl]) {
          const run = (sql: string): string => {
            try {
              return runSql(url, sql);
            } catch (fault) {
              return String(fault);
            }
          };
          expect([table, run(`SELECT count(*) FROM ${table}`)]).toEqual([table, "0"]);
          const changed = /^0$|permission denied/;
          expect([
            table,
            run(`WITH x AS (UPDATE ${table} SET tenant = 'other' RETURNING 1) SELECT count(*) FROM x`),
          ]).toEqual([table, expect.stringMatching(changed)]);
          expect([table, run(`WITH x AS (DELETE FROM ${table} RETURNING 1) SELECT count(*) FROM x`)]).toEqual(
            [table, expect.stringMatching(changed)],
          );
          if (row === undefined || row === "") continue; // The engine's tables have rows of their own tests.
          const insert = `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_record(NULL::${table}, '${row.replaceAll("'", "''")}')`;
          expect([table, run(insert)]).toEqual([table, expect.stringContaining("row-level security")]);
          expect([table, run(`BEGIN; SET LOCAL metier.tenant = 'other'; ${insert}; COMMIT`)]).toEqual([
            table,
            expect.stringContaining("row-level security"),
          ]);
        }
      }
      expect(everything(opened)).toBe(before);
    });

    test("stand first in every key, and are kept apart for the owner, too", async () => {
      const { superUrl } = await openWithRows();
      const open = `SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = 'metier' AND relkind = 'r' AND relname <> 'migrations' AND NOT (relrowsecurity AND relforcerowsecurity)`;
      expect(runSql(superUrl, open)).toBe("");
      const keys = `SELECT indexrelid::regclass FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        JOIN pg_namespace ON pg_namespace.oid = relnamespace
        JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0]
        WHERE nspname = 'metier' AND indisunique AND attname <> 'tenant' AND relname <> 'migrations'`;
      expect(runSql(superUrl, keys)).toBe("");
    });

    test("have an audit log whose lines the runtime role cannot change or take away", async () => {
      const { url } = await openWithRows();
      const as = "BEGIN; SET LOCAL metier.tenant = '*'";
      expect(() => runSql(url, `${as}; UPDATE metier.audit SET actor = 'x'; COMMIT`)).toThrow(
        "permission denied",
      );
      expect(() => runSql(url, `${as}; DELETE FROM metier.audit; COMMIT`)).toThrow("permission denied");
      expect(() => runSql(url, `${as}; TRUNCATE metier.audit; COMMIT`)).toThrow("permission denied");
    });
  });
});
