/**
 * What a run costs in processor time, user and system, of all threads: milliseconds per run in the bare loop and in
 * ours, as JSON. Measured in turns of several runs in one process, so that whoever leaves garbage also pays for its
 * collection.
 */
import { BARE, createContestant, METIER } from "../run-loop/contestants.mjs";
import { createModel } from "../run-loop/model.mjs";

const RUNS_A_TURN = 20;

const [folder = "", steps = "1", turns = "1", warmUps = "0"] = process.argv.slice(2);
const model = createModel();
const contestants = await Promise.all([BARE, METIER].map((name) => createContestant(name, model, folder)));
const totals = contestants.map(() => 0);
for (let turn = -Number(warmUps); turn < Number(turns); turn++) {
  for (const [index, run] of contestants.entries()) {
    const start = process.cpuUsage();
    for (let count = 0; count < RUNS_A_TURN; count++) await run(Number(steps));
    const { user, system } = process.cpuUsage(start);
    if (turn >= 0) totals[index] = (totals[index] ?? 0) + (user + system) / 1000;
  }
}
process.stdout.write(JSON.stringify(totals.map((total) => total / (Number(turns) * RUNS_A_TURN))));
