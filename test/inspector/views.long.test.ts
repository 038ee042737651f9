/** Every view in a real browser: nobody is shut out by how it is built, it fits a phone, and it complains about nothing. */

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { announceWorker } from "../support/announced-worker.ts";
import { findViolations } from "../support/axe.ts";
import { describeInBrowser } from "../support/chromium.ts";
import { type Inspected, inspect } from "../support/inspected-service.ts";
import {
  addressOf,
  type FilledService,
  fillService,
  VIEW_ADDRESSES,
  type ViewName,
  writeViewSkills,
} from "../support/view-answers.ts";
import { createWorld } from "../support/world.ts";

/** The elements that reach over the edge, as text to look for. */
const WIDEST = `[...document.querySelectorAll("main *")]
  .filter((element) => element.getBoundingClientRect().right > 401 && !element.closest(".scrolls, .table, .tabs, pre"))
  .slice(0, 3).map((element) => element.outerHTML.slice(0, 120))`;
const VIEWS = Object.keys(VIEW_ADDRESSES) as ViewName[];

async function openFilled(): Promise<{ readonly service: Inspected; readonly filled: FilledService }> {
  const world = createWorld();
  writeViewSkills(world);
  const service = await inspect(world);
  await announceWorker(world, "elsewhere");
  return { service, filled: await fillService(service) };
}

/** Until nothing is on its way any more. */
async function visit(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await expect.poll(() => page.evaluate("!document.querySelector('.loading')?.textContent")).toBe(true);
}

describeInBrowser("every view", () => {
  test.each(["light", "dark"] as const)("[18] axe finds nothing, %s", async (colorScheme) => {
    const { service, filled } = await openFilled();
    const { page, complaints } = await service.open("/skills", { colorScheme, bypassCSP: true });
    for (const view of VIEWS) {
      await visit(page, `${service.url}/#${addressOf(view, filled)}`);
      expect({ view, found: await findViolations(page) }).toEqual({ view, found: [] });
    }
    expect(complaints).toEqual([]);
  });

  test("[18] at 400 pixels nothing is wider than the screen, and the policy keeps nothing from working", async () => {
    const { service, filled } = await openFilled();
    const { page, complaints } = await service.open("/skills", { viewport: { width: 400, height: 800 } });
    const wide: unknown[] = [];
    for (const view of VIEWS) {
      await visit(page, `${service.url}/#${addressOf(view, filled)}`);
      if ((await page.evaluate("document.documentElement.scrollWidth")) !== 400)
        wide.push([view, await page.evaluate(WIDEST)]);
    }
    expect(wide).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
