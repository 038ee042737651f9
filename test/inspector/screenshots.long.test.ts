/** `npm run screenshots`: every view, light and dark, into `docs/images`. Not a test of anything by itself. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { announceWorker } from "../support/announced-worker.ts";
import { type Inspected, inspect } from "../support/inspected-service.ts";
import { ROOT } from "../support/repository.ts";
import {
  addressOf,
  fillService,
  VIEW_ADDRESSES,
  type ViewName,
  writeViewSkills,
} from "../support/view-answers.ts";
import { createWorld } from "../support/world.ts";

const FOLDER = join(ROOT, "docs", "images");
/** Others show the same with a part opened. */
const NOT_TAKEN: ReadonlySet<ViewName> = new Set(["quotas-users", "audit-line"]);
const VIEWS = (Object.keys(VIEW_ADDRESSES) as ViewName[]).filter((view) => !NOT_TAKEN.has(view));
const WORKERS = ["worker-1.example.com", "worker-2.example.com"];
/** The pictures are taken by then; until then they show "now". */
const SEEN_IN_MS = 50_000;
const isWanted = process.env.METIER_SCREENSHOTS !== undefined;

test.runIf(isWanted)("every view is taken, light and dark", async () => {
  mkdirSync(FOLDER, { recursive: true });
  const world = createWorld();
  writeViewSkills(world);
  const service = await inspect(world, { isBundled: true });
  const filled = await fillService(service);
  await runSome(service);
  for (const host of WORKERS) await announceWorker(world, host, SEEN_IN_MS);
  for (const colorScheme of ["light", "dark"] as const) {
    const { page, complaints } = await service.open("/skills", { colorScheme });
    for (const view of VIEWS) {
      await page.goto(`${service.url}/#${addressOf(view, filled)}`);
      await settle(page);
      await page.screenshot({ path: join(FOLDER, `inspector-${view}-${colorScheme}.png`) });
    }
    expect(complaints).toEqual([]);
  }
});

/** So that lists and plots have something to show. */
async function runSome(service: Inspected): Promise<void> {
  const commands = ["make --version", "ls -l", "exit 2", "date", "wc -c /etc/hostname", "false"];
  for (const command of commands) {
    const wish = { skill: "build", message: `Please run: ${command}`, approve: "allow" };
    await service.call("POST", "/v1/runs", wish);
  }
}

async function settle(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expect.poll(() => page.evaluate("!document.querySelector('.loading')?.textContent")).toBe(true);
  await page.waitForTimeout(700);
}
