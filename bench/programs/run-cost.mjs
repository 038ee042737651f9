/** What a run costs in the bare loop and in ours, in turns in one process: milliseconds of each round, as JSON. */
import { CONTESTANTS, createContestant } from "../run-loop/contestants.mjs";
import { createModel } from "../run-loop/model.mjs";

const [folder = "", steps = "1", together = "1", rounds = "1", warmUps = "0"] = process.argv.slice(2);
const model = createModel();
const contestants = await Promise.all(CONTESTANTS.map((name) => createContestant(name, model, folder)));
const times = contestants.map(() => /** @type {number[]} */ ([]));
for (let round = -Number(warmUps); round < Number(rounds); round++) {
  for (const [index, run] of contestants.entries()) {
    const start = performance.now();
    await Promise.all(Array.from({ length: Number(together) }, () => run(Number(steps))));
    if (round >= 0) times[index]?.push((performance.now() - start) / Number(together));
  }
}
process.stdout.write(JSON.stringify(times));
