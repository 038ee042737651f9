/** What a run costs in processor time, by the bare loop and by ours in turns in one process: milliseconds of each run, as JSON. */
import { BARE, createContestant, METIER } from "../run-loop/contestants.mjs";
import { createModel } from "../run-loop/model.mjs";

const [folder = "", steps = "1", rounds = "1", warmUps = "0"] = process.argv.slice(2);
const model = createModel();
const contestants = await Promise.all([BARE, METIER].map((name) => createContestant(name, model, folder)));
const times = contestants.map(() => /** @type {number[]} */ ([]));
for (let round = -Number(warmUps); round < Number(rounds); round++) {
  for (const [index, run] of contestants.entries()) {
    const start = process.cpuUsage();
    await run(Number(steps));
    const { user, system } = process.cpuUsage(start);
    if (round >= 0) times[index]?.push((user + system) / 1000);
  }
}
process.stdout.write(JSON.stringify(times));
