/**
 * Workers with homes of their own on one Postgres and one object store: killed at random moments while the database is
 * restarted five times and out of reach for ten seconds. Few kills here; `npm run durability -- --postgres` makes it three
 * hundred, at other moments each time.
 */
import { expect, test } from "vitest";
import { describeWithPostgres } from "../support/postgres.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { killWorkers } from "./kill-workers.ts";
import { manyHomes } from "./places.ts";

const KILLS = Number(process.env.METIER_DURABILITY_KILLS ?? 30);
const RUNS = Number(process.env.METIER_DURABILITY_RUNS ?? 16);
const SEED = Number(process.env.METIER_DURABILITY_SEED ?? 1);
const WORKERS = Number(process.env.METIER_DURABILITY_WORKERS ?? 2);

describeSandbox("durable runs on Postgres", () => {
  describeWithPostgres(`with ${WORKERS} workers at once`, () => {
    test(`lose nothing, repeat nothing and go on elsewhere (${KILLS} kills, seed ${SEED})`, {
      timeout: 300_000 + KILLS * 20_000,
    }, async () => {
      const openPlace = (world: Parameters<typeof manyHomes>[0]) => manyHomes(world, WORKERS);
      const report = await killWorkers({ kills: KILLS, runs: RUNS, seed: SEED, openPlace });
      const { runs, asked, needed, told, moved, begun } = report;
      process.stdout.write(
        `durability on Postgres: ${KILLS} kills, ${runs.length} runs taken up ${told.resumed} times, ${moved} of ${begun} ended on another machine, ${told.calls} calls (${told.unknown} told as unknown), ${told.confirmed} changes confirmed, ${asked} requests for ${needed} answers\n`,
      );
      expect(report.faults).toEqual([]);
      // Half of them, once there are more kills than runs: few kills do not meet every other run.
      expect(moved).toBeGreaterThanOrEqual(KILLS < 100 ? KILLS / 4 : begun / 2);
    });
  });
});
