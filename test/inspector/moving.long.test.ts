/** Getting around: links to anywhere, the back button, the keyboard alone, two tabs, a server that goes and comes back. */
import { expect, test } from "vitest";
import { describeInBrowser } from "../support/chromium.ts";
import { inspect } from "../support/inspected-service.ts";
import { fillService, writeViewSkills } from "../support/view-answers.ts";
import { createWorld } from "../support/world.ts";

function createFilledWorld() {
  const world = createWorld();
  writeViewSkills(world);
  return world;
}

describeInBrowser("getting around", () => {
  test("[18] a link to a skill's tab opens it, and the back button goes back to the list as it was", async () => {
    const service = await inspect(createFilledWorld());
    const { page } = await service.open("/skills");
    await page.getByRole("searchbox").or(page.locator("[data-search]")).first().fill("notes");
    await expect.poll(() => page.evaluate("location.hash.includes('notes')")).toBe(true);
    await page.getByRole("link", { name: "notes" }).first().click();
    await page.getByRole("heading", { level: 1, name: "notes" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Skills" }).waitFor();
    expect(await page.locator("[data-search]").first().inputValue()).toBe("notes");
    await page.goto(`${service.url}/#/skill/user:build?tab=files`);
    await page.getByText("scripts/make.sh").or(page.getByText("make.sh")).first().waitFor();
  });

  test("[18] everything is done by keyboard: go to a list, open a skill, see the keys", async () => {
    const service = await inspect(createFilledWorld());
    const { page } = await service.open("/runs");
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { level: 1, name: "Skills" }).waitFor();
    await page.getByRole("grid").focus();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.evaluate("location.hash.startsWith('#/skill/')")).toBe(true);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("[18] what is answered in one tab is gone in the other", async () => {
    const service = await inspect(createFilledWorld());
    const { page, context } = await service.open("/approvals");
    const second = await context.newPage();
    await second.goto(`${service.url}/#/approvals`);
    await second.getByText("Nothing is waiting for you.").waitFor();
    await fillService(service);
    await page.getByText("rm -rf build", { exact: true }).waitFor();
    await second.getByText("rm -rf build", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Deny" }).click();
    await second.getByText("Nothing is waiting for you.").waitFor();
  });

  test("[18] a server that goes away is told of, and what changed meanwhile is there when it is back", async () => {
    const world = createFilledWorld();
    const first = await inspect(world);
    const { page } = await first.open("/approvals");
    await page.getByText("Nothing is waiting for you.").waitFor();
    const port = Number(new URL(first.url).port);
    await first.stop();
    await page.getByText("The server doesn't answer.").waitFor();
    const again = await inspect(world, { port });
    await again.call("POST", "/v1/runs", { skill: "build", message: "Please run: rm -rf build" });
    await page.getByText("rm -rf build", { exact: true }).waitFor();
    await page.getByText("The server doesn't answer.").waitFor({ state: "detached" });
  });
});
