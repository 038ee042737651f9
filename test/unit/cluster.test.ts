/** The Postgres that other tests use. */
import { expect, test } from "vitest";
import { runSql } from "../../scripts/postgres/cluster.mjs";
import { describeWithPostgres, newDatabase } from "../support/postgres.ts";

describeWithPostgres("the cluster of the tests", () => {
  test("gives each test a database, with a runtime role that is neither owner nor free of row level security", async () => {
    const { adminUrl, url, superUrl } = await newDatabase({ isEmpty: true });
    expect(runSql(adminUrl, "SELECT current_user")).toBe("metier_admin");
    const facts = "SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = current_user";
    expect(runSql(url, facts)).toBe("f|f|f");
    expect(runSql(superUrl, facts)).toBe("t|t|t");
    expect(() => runSql(url, "CREATE TABLE mine (id int)")).toThrow("permission denied");
  });
});
