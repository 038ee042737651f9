/** A new database knows nothing of its rows, and Postgres looks only once a minute: the first runs make it look. */
import { expect, onTestFinished, test } from "vitest";
import { runSql } from "../../../scripts/postgres/cluster.mjs";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import type { RunEngine } from "../src/index.ts";
import { openPostgresEngine } from "../src/postgres/open-engine.ts";
import { ENDED, startWork, until } from "./contract/engine-work.ts";

/** More than the engine waits for. */
const RUNS = 60;

async function advanceAll(engine: RunEngine): Promise<void> {
  let advanced = 0;
  const worker = startWork(engine, {
    async advance() {
      advanced += 1;
      return ENDED;
    },
  });
  for (let number = 0; number < RUNS; number++) await engine.enqueue(`run-${number}`);
  await until(() => advanced === RUNS && worker.active === 0);
}

describeWithPostgres("a new database", () => {
  test("finds a run by its key as soon as there are some, and learns that once", async () => {
    const { url, superUrl } = await newDatabase();
    const engine = openPostgresEngine({ url });
    onTestFinished(() => engine.close());
    const analyzed = (): string =>
      runSql(
        superUrl,
        "SELECT pg_stat_get_analyze_count(oid) FROM pg_class WHERE oid = 'openworkflow.workflow_runs'::regclass",
      );
    const plan = (): string =>
      runSql(
        superUrl,
        "SET enable_seqscan = off; EXPLAIN SELECT FROM openworkflow.workflow_runs WHERE namespace_id = 'metier' AND id = 'x'",
      );
    expect(analyzed()).toBe("0");
    await advanceAll(engine);
    await until(() => analyzed() === "1");
    expect(plan()).toContain("workflow_runs_pkey");
    runSql(url, "SELECT metier.engine_learn()");
    expect(analyzed()).toBe("1");
  });

  test("lets a service's role have it learn, and nothing else of what the owner may do", async () => {
    const { url, superUrl } = await newDatabase();
    runSql(url, "SELECT metier.engine_learn()");
    const sql =
      "SELECT relname FROM pg_stat_user_tables WHERE last_analyze IS NOT NULL AND relname = 'records'";
    await until(() => runSql(superUrl, sql) === "records");
    expect(() => runSql(url, "DROP TABLE metier.records")).toThrow("must be owner");
  });
});
