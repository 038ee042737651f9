/**
 * openworkflow by itself on Postgres: its own worker and steps, plus a journal that gets three rows of 1 KB in each
 * step, as in the SQLite bench.
 */
import { OpenWorkflow } from "openworkflow";
import { BackendPostgres } from "openworkflow/postgres";
import postgres from "postgres";
import { SLOTS, STEPS } from "./sizes.mjs";

const ROWS = 3;
const VALUE = "x".repeat(1000);

/**
 * @param {string} url of a role that may make tables
 * @param {number} count
 * @returns {Promise<number>} runs per second
 */
export async function measureOpenworkflowOnPostgres(url, count) {
  const sql = postgres(url, { max: SLOTS, onnotice: () => undefined });
  await sql`CREATE SCHEMA IF NOT EXISTS bare`;
  await sql`DROP TABLE IF EXISTS bare.journal`;
  await sql`CREATE TABLE bare.journal (run text, seq integer, value text, PRIMARY KEY (run, seq))`;
  const backend = await BackendPostgres.connect(url, {
    schema: "bare_engine",
    namespaceId: `bench-${process.hrtime.bigint()}`,
  });
  const engine = new OpenWorkflow({ backend });
  let ended = 0;
  const { promise: all, resolve } = Promise.withResolvers();
  const flow = engine.defineWorkflow({ name: "steps" }, async ({ input, step }) => {
    const { run } = /** @type {{ readonly run: string }} */ (input);
    for (let number = 1; number <= STEPS; number++) {
      await step.run({ name: `step-${number}` }, async () => {
        for (let row = 0; row < ROWS; row++) {
          await sql`INSERT INTO bare.journal VALUES (${run}, ${number * ROWS + row}, ${VALUE})`;
        }
        return number;
      });
    }
    ended += 1;
    if (ended === count) resolve(undefined);
  });
  const worker = engine.newWorker({ concurrency: SLOTS });
  const from = performance.now();
  await Promise.all(Array.from({ length: count }, (_, number) => flow.run({ run: `run-${number}` })));
  await worker.start();
  await all;
  const rate = (count / (performance.now() - from)) * 1000;
  await worker.stop();
  await backend.stop();
  await sql.end();
  return rate;
}
