/** The inspector in a real browser, over a real service: what happens is seen while it happens, and can be answered. */
import { expect, test } from "vitest";
import { describeInBrowser } from "../support/chromium.ts";
import { inspect } from "../support/inspected-service.ts";
import { createRunWorld } from "../support/scripted-runs.ts";

describeInBrowser("the inspector, live", () => {
  test("[18] a run with a sandboxed command asks, is approved in the page, and goes on", async () => {
    const service = await inspect(createRunWorld({ build: ["allowed-tools: Bash"] }));
    const { page, complaints } = await service.open("/approvals");
    await page.getByText("Nothing is waiting for you.").waitFor();
    const { id } = await service.call<{ id: string }>("POST", "/v1/runs", {
      skill: "build",
      message: "Please run: echo built > out.txt; echo it is built",
    });
    await page.getByText("echo built > out.txt; echo it is built").waitFor();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    await page.getByText("Nothing is waiting for you.").waitFor();
    await page.goto(`${service.url}/#/run/${id}`);
    await page.getByText("completed").first().waitFor();
    await page.getByRole("tab", { name: "Answer" }).click();
    await page.getByText("it is built").first().waitFor();
    expect(complaints).toEqual([]);
  });
});
