/**
 * A server for many users, each by a view of its own. A few of them here; `npm run test:tenants` has 500 runs at the same time
 * of 50 users, 5,000 in all.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import { processesWith, until } from "../support/processes.ts";
import { sandboxTest } from "../support/sandbox.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { askAsTenant, startTenantServer, type TenantRequest } from "../support/tenants.ts";

const { METIER_TENANT_USERS = "6", METIER_TENANT_RUNS = "90", METIER_TENANT_AT_ONCE = "30" } = process.env;
const USERS = Number(METIER_TENANT_USERS);
const RUNS = Number(METIER_TENANT_RUNS);
const AT_ONCE = Number(METIER_TENANT_AT_ONCE);
const MEGABYTE = 1024 * 1024;
const TIMEOUT_MS = Math.max(120_000, RUNS * 1_000);
// Thousands of runs leave folders, which take their time to be removed, too.
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });

function requestOf(number: number): TenantRequest {
  const user = number % USERS;
  return {
    user: `u${user}`,
    other: `u${(user + 1 + (number % (USERS - 1))) % USERS}`,
    commands: (number + Math.floor(number / USERS)) % 5 === 0, // Another fifth of the users in each round.
    thinkMs: AT_ONCE * 40,
    hangs: number % 20 === 7 ? "model" : number % 20 === 17 ? "command" : undefined,
  };
}

/** As many at the same time as there may be, until all are done. */
async function askAll(url: string, from: number, to: number): Promise<readonly string[]> {
  const leaks: string[] = [];
  let next = from;
  const ask = async (): Promise<void> => {
    while (next < to) leaks.push(...(await askAsTenant(url, requestOf(next++))));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return leaks;
}

sandboxTest(
  "[L3] users at the same time: no event, file, secret or tool call reaches another; who goes away ends the run",
  async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, "home"));
    const server = await startTenantServer(root, USERS);
    onTestFinished(() => server.close());
    const idle = async () => {
      let last = await server.report();
      const deadline = Date.now() + TIMEOUT_MS;
      while (last.running > 0 && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        last = await server.report();
      }
      return last;
    };
    const warm = Math.min(Math.floor(RUNS / 3), AT_ONCE * 2);
    const leaks = [...(await askAll(server.url, 0, warm))];
    const before = await idle();
    leaks.push(...(await askAll(server.url, warm, RUNS)));
    const after = await idle();

    expect({ leaks: leaks.slice(0, 20), faults: after.faults }).toEqual({ leaks: [], faults: [] });
    const gone = Array.from({ length: RUNS }, (_, number) => requestOf(number)).filter(
      ({ hangs }) => hangs,
    ).length;
    expect(after.statuses).toEqual({ completed: RUNS - gone, cancelled: gone });
    expect(after.running).toBe(0);
    expect(after.most).toBeGreaterThan(AT_ONCE * 0.9);
    await until("no command lives on", () => processesWith("sleep 10000").length === 0);
    const [first = 0, last = 0] = [before.heap.at(-1), after.heap.at(-1)];
    const numbers = {
      runs: RUNS,
      users: USERS,
      most: after.most,
      gone,
      heap: [first, last].map(toMegabytes),
    };
    process.stderr.write(`tenants: ${JSON.stringify(numbers)}\n`);
    expect(last - first).toBeLessThan(Math.max(4 * MEGABYTE, first * 0.1));
  },
);

function toMegabytes(bytes: number): number {
  return Math.round((bytes / MEGABYTE) * 10) / 10;
}
