/** The memory of a run that waits for its model: bytes, as JSON. Needs `--expose-gc`. */
import { createContestant } from "../run-loop/contestants.mjs";
import { createModel } from "../run-loop/model.mjs";

const [name = "", folder = "", count = "0"] = process.argv.slice(2);

const { promise: everyoneWaits, resolve: tellThatAllWait } = Promise.withResolvers();
const { promise: release, resolve: letGo } = Promise.withResolvers();
let waiting = 0;
let isHeld = false;
const model = createModel(async () => {
  if (!isHeld) return;
  waiting += 1;
  if (waiting === Number(count)) tellThatAllWait(undefined);
  await release;
});

const run = await createContestant(name, model, folder);
await Promise.all(Array.from({ length: 20 }, () => run(10))); // Loads and compiles everything first.
const before = await settledMemory();
isHeld = true;
const runs = Array.from({ length: Number(count) }, () => run(1));
await everyoneWaits;
const during = await settledMemory();
letGo(undefined);
await Promise.all(runs);
process.stdout.write(JSON.stringify((during - before) / Number(count)));

/**
 * The memory in use after garbage collection. The memory of the process says less, because it includes what earlier
 * runs freed.
 */
async function settledMemory() {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
