/**
 * The first run in a process: milliseconds to load and set up the library, of the first run, and of the third one, as
 * JSON. The difference between the first and the third is loading, and code that has never run.
 */
import { createContestant } from "../run-loop/contestants.mjs";
import { createModel } from "../run-loop/model.mjs";

const [name = "", folder = ""] = process.argv.slice(2);
const began = performance.now();
const run = await createContestant(name, createModel(), folder);
const times = [performance.now() - began];
for (let count = 0; count < 3; count++) {
  const start = performance.now();
  await run(1);
  times.push(performance.now() - start);
}
const [setUp, first, , third] = times;
process.stdout.write(JSON.stringify({ setUp, first, third }));
process.exit();
