/**
 * Two tenants with everything alike on one Postgres, their runs interleaved over HTTP. Few here;
 * `npm run test:tenants -- --postgres` has 5,000.
 */
import { expect, test } from "vitest";
import { createMachines } from "../support/machines.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { askAsPaired, lookOver, openTenant, startPairModel } from "../support/tenant-pair.ts";

const RUNS = Number(process.env.METIER_TENANT_RUNS ?? 40);
const AT_ONCE = Math.min(RUNS, 16);

describeSandbox("two tenants with the same skill, user and files", () => {
  describeWithPostgres("on Postgres", () => {
    test(`${RUNS} interleaved runs: no event, file, result, question or sum reaches the other`, {
      timeout: 120_000 + RUNS * 500,
    }, async () => {
      const crossings: string[] = [];
      const machines = await createMachines({}, await startPairModel(crossings));
      const server = await machines.serve("server");
      await machines.work("one", { lease: 30 });
      const red = await openTenant(server, "red");
      const blue = await openTenant(server, "blue");
      const from = performance.now();
      let next = 0;
      const ask = async (): Promise<void> => {
        for (let number = next++; number < RUNS; number = next++) {
          const [own, other] = number % 2 === 0 ? [red, blue] : [blue, red];
          crossings.push(...(await askAsPaired(server, own, other, Math.floor(number / 2))));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, ask));
      for (const tenant of [red, blue]) crossings.push(...(await lookOver(server, tenant)));
      const seconds = Math.round((performance.now() - from) / 1000);
      process.stderr.write(`two tenants: ${RUNS} runs in ${seconds} s, ${crossings.length} crossings\n`);
      expect(crossings.slice(0, 20)).toEqual([]);
    });
  });
});
