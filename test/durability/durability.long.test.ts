/** Workers are killed at random moments. Few here; `npm run durability` makes it three hundred, at other moments each time. */
import { expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { killWorkers } from "./kill-workers.ts";
import { oneHome } from "./places.ts";

const KILLS = Number(process.env.METIER_DURABILITY_KILLS ?? 30);
const RUNS = Number(process.env.METIER_DURABILITY_RUNS ?? 16);
const SEED = Number(process.env.METIER_DURABILITY_SEED ?? 1);

describeSandbox("durable runs", () => {
  test(`lose nothing and repeat nothing when their worker is killed (${KILLS} kills, seed ${SEED})`, {
    timeout: 120_000 + KILLS * 20_000,
  }, async () => {
    const report = await killWorkers({ kills: KILLS, runs: RUNS, seed: SEED, openPlace: oneHome });
    const { runs, asked, needed, told } = report;
    process.stdout.write(
      `durability: ${KILLS} kills, ${runs.length} runs taken up ${told.resumed} times, ${told.calls} calls (${told.unknown} told as unknown), ${told.confirmed} changes confirmed, ${asked} requests for ${needed} answers\n`,
    );
    expect(report.faults).toEqual([]);
  });
});
