/** What runs that wait for their model hold, each: bytes of heap and of the whole process, as JSON. Needs `--expose-gc`. */
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
await Promise.all(Array.from({ length: 20 }, () => run(10))); // What is loaded and compiled once is not theirs.
const before = await settledMemory();
isHeld = true;
const runs = Array.from({ length: Number(count) }, () => run(1));
await everyoneWaits;
const during = await settledMemory();
letGo(undefined);
await Promise.all(runs);
const each = {
  heap: (during.heap - before.heap) / Number(count),
  process: (during.process - before.process) / Number(count),
};
process.stdout.write(JSON.stringify(each));

/** After everything that can go has gone. */
async function settledMemory() {
  for (let round = 0; round < 5; round++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, process: rss };
}
