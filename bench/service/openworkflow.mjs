/**
 * openworkflow by itself: its own worker and steps on SQLite, plus a journal that gets three rows of 1 KB in each
 * step. By default it waits for the disk at every commit, as a durable run does at every step.
 */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { OpenWorkflow } from "openworkflow";
import { BackendSqlite } from "openworkflow/sqlite";
import { SLOTS, STEPS } from "./sizes.mjs";

const ROWS = 3;
const VALUE = "x".repeat(1000);

/**
 * @param {string} folder
 * @param {{ readonly count: number, readonly waits: boolean }} options `waits`: for the disk at each commit, as it does by itself
 * @returns {Promise<number>} runs per second
 */
export async function measureOpenworkflow(folder, { count, waits }) {
  const file = join(folder, `openworkflow-${waits}.db`);
  const backend = BackendSqlite.connect(file);
  const journal = new DatabaseSync(file, { timeout: 5000 });
  journal.exec("CREATE TABLE journal (run TEXT, seq INTEGER, value TEXT, PRIMARY KEY (run, seq))");
  const { db } = /** @type {{ readonly db: DatabaseSync }} */ (/** @type {unknown} */ (backend));
  if (!waits) for (const connection of [journal, db]) connection.exec("PRAGMA synchronous = NORMAL");
  const insert = journal.prepare("INSERT INTO journal VALUES (?, ?, ?)");
  const engine = new OpenWorkflow({ backend });
  let ended = 0;
  const { promise: all, resolve } = Promise.withResolvers();
  const flow = engine.defineWorkflow({ name: "steps" }, async ({ input, step }) => {
    const { run } = /** @type {{ readonly run: string }} */ (input);
    for (let number = 1; number <= STEPS; number++) {
      await step.run({ name: `step-${number}` }, async () => {
        for (let row = 0; row < ROWS; row++) insert.run(run, number * ROWS + row, VALUE);
        return number;
      });
    }
    ended += 1;
    if (ended === count) resolve(undefined);
  });
  const worker = engine.newWorker({ concurrency: SLOTS });
  const from = performance.now();
  for (let number = 0; number < count; number++) await flow.run({ run: `run-${number}` });
  await worker.start();
  await all;
  const rate = (count / (performance.now() - from)) * 1000;
  await worker.stop();
  journal.close();
  await backend.stop();
  return rate;
}
