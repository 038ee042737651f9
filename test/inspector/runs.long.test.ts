/** Runs in a real browser: they appear, are followed to their end, compared, and taken along as one file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeInBrowser, openPage } from "../support/chromium.ts";
import { inspect } from "../support/inspected-service.ts";
import { createRunWorld } from "../support/scripted-runs.ts";
import { temporaryFolder } from "../support/temporary.ts";

const COMMAND = "echo built > out.txt; echo it is built";

describeInBrowser("the inspector's runs", () => {
  test("[18] a run appears in the list by itself, waits, is approved, and shows what it did and left", async () => {
    const service = await inspect(createRunWorld({ build: ["allowed-tools: Bash"] }));
    const { page, complaints } = await service.open("/runs");
    await page.getByText("No runs yet.").waitFor();
    const { id } = await service.call<{ id: string }>("POST", "/v1/runs", {
      skill: "build",
      message: `Please run: ${COMMAND}`,
    });
    await page.getByRole("row", { name: /build/ }).getByText("waiting").waitFor();
    await page.getByRole("link", { name: /build/ }).click();
    await page.getByText("This run is waiting for an answer.").waitFor();
    await page.getByRole("option", { name: /Waiting for approval.*in progress/ }).waitFor();
    const { data } = await service.call<{ data: { id: string }[] }>("GET", "/v1/approvals?status=pending");
    await service.call("POST", `/v1/approvals/${data[0]?.id}`, { decision: "approve" });
    await page.getByText("completed").first().waitFor();
    await page.getByRole("button", { name: /^1/ }).click();
    await page.getByRole("region", { name: "Output of bash" }).getByText("it is built").waitFor();
    expect(new URL(page.url()).hash).toBe(`#/run/${id}?step=1`);
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("link", { name: "out.txt" }).click();
    await page.getByRole("region", { name: "Contents of out.txt" }).getByText("built").waitFor();
    await page.goBack();
    expect(complaints).toEqual([]);
  });

  test("[18] the timeline and the tabs work by the keyboard alone", async () => {
    const service = await inspect(createRunWorld({ build: ["allowed-tools: Bash"] }));
    const { id } = await service.call<{ id: string }>("POST", "/v1/runs", {
      skill: "build",
      message: `Please run: ${COMMAND}`,
      approve: "allow",
    });
    const { page } = await service.open(`/run/${id}`);
    await page.getByText("completed").first().waitFor();
    await page.locator("#step-2").waitFor();
    await page.getByRole("listbox").focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.locator("#step-2").getByText("stdout: it is built").waitFor();
    expect(new URL(page.url()).hash).toContain("step=2");
    await page.getByRole("tab", { name: /Steps/ }).focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tab", { name: "Answer", selected: true }).waitFor();
    await page.getByRole("tabpanel").getByText("stdout: it is built").waitFor();
  });

  test("[18] a run that goes on is cancelled in the page", async () => {
    const service = await inspect(createRunWorld({ build: ["allowed-tools: Bash"] }));
    const { id } = await service.call<{ id: string }>("POST", "/v1/runs", {
      skill: "build",
      message: `Please run: ${COMMAND}`,
    });
    const { page } = await service.open(`/run/${id}`);
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("button", { name: "Cancel the run" }).click();
    await page.getByText("cancelled").first().waitFor();
  });

  test("[18] two runs are compared, and one is exported as a file that needs no server", async () => {
    const service = await inspect(createRunWorld({ build: ["allowed-tools: Bash"] }));
    const start = async (words: string): Promise<string> => {
      const body = { skill: "build", message: `Please run: echo ${words}`, approve: "allow" };
      return (await service.call<{ id: string }>("POST", "/v1/runs", body)).id;
    };
    const [one, other] = [await start("red"), await start("blue")];
    const { page } = await service.open(`/run/${one}`);
    await page.getByText("completed").first().waitFor();
    await page.getByRole("button", { name: "Compare…" }).click();
    await page.getByRole("dialog").getByRole("link").first().click();
    await page.getByRole("region", { name: "Output of step 1" }).getByText("added: + blue").waitFor();
    expect(new URL(page.url()).hash).toBe(`#/compare/${one}/${other}`);
    await page.goto(`${service.url}/#/run/${one}`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export as page" }).click(),
    ]);
    const file = join(temporaryFolder(), "run.html");
    await download.saveAs(file);
    expect(readFileSync(file, "utf8")).toContain(one);
    const { page: alone, complaints } = await openPage({ offline: true });
    await alone.goto(`file://${file}#/run/${one}?step=1`);
    await alone.getByRole("region", { name: "Output of bash" }).getByText("red").waitFor();
    expect(complaints).toEqual([]);
  });
});
