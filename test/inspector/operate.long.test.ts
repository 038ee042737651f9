/** The operators' views in a real browser over a real service: each for its role, and what they change is changed. */
import { DatabaseSync } from "node:sqlite";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { announceWorker, storeOf } from "../support/announced-worker.ts";
import { findViolations } from "../support/axe.ts";
import { describeInBrowser, openPage } from "../support/chromium.ts";
import { type Inspected, inspect } from "../support/inspected-service.ts";
import { createRunWorld } from "../support/scripted-runs.ts";

const createBuildWorld = () => createRunWorld({ build: ["allowed-tools: Bash"] });

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

/** A tenant, and a key of it. */
async function makeTenant(service: Inspected, name: string, role = "admin"): Promise<MadeKey> {
  await service.call("POST", "/v1/tenants", { name });
  return service.call("POST", "/v1/keys", { tenant: name, name: `${role} of ${name}`, role });
}

async function linksOf(page: Page): Promise<readonly string[]> {
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return page.getByRole("navigation", { name: "Main" }).getByRole("listitem").allInnerTexts();
}

describeInBrowser("tenants and keys", () => {
  test("[19] a tenant is made with a key, the key's text is there once, and whoever has it sees their own keys alone", async () => {
    const service = await inspect(createBuildWorld());
    const { page, context, complaints } = await service.open("/tenants");
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: service.url });
    await page.getByRole("button", { name: "New tenant" }).click();
    await page.getByLabel("Name").fill("acme");
    await page.getByRole("button", { name: "Create tenant" }).click();
    await page.getByRole("heading", { level: 1, name: "acme" }).waitFor();
    await page.getByText("No key yet.").waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Admin of Acme");
    await page.getByLabel("Role").selectOption("admin");
    await page.getByLabel("For one user").fill("ada");
    await page.getByLabel("Valid until").fill("2100-01-01");
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("This is the key. It won't be shown again.").waitFor();
    await page.getByRole("button", { name: "Copy the key" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const key = await page.evaluate<string>("navigator.clipboard.readText()");
    await page.getByRole("button", { name: "I have it" }).click();
    await page.getByRole("row", { name: /Admin of Acme.*admin.*ada.*active/ }).waitFor();
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await page.getByRole("row", { name: /Admin of Acme/ }).waitFor();
    expect(await page.content()).not.toContain(key);

    const other = await service.open("/keys", { key });
    await other.page.getByRole("row", { name: /Admin of Acme/ }).waitFor();
    expect(await other.page.getByRole("row").count()).toBe(2);
    expect(await linksOf(other.page)).toEqual(expect.arrayContaining(["Keys", "Audit"]));
    expect(await linksOf(other.page)).not.toContain("Tenants and keys");
    await other.page.goto(`${service.url}/#/tenants`);
    await other.page.getByRole("alert").waitFor();
    expect(await other.page.getByRole("button", { name: "New tenant" }).count()).toBe(0);
    expect([...complaints, ...other.complaints]).toEqual([]);
  });

  test("[19] a key with single scopes does what it may; revoked, it signs nobody in and whoever has it is out", async () => {
    const service = await inspect(createBuildWorld());
    await service.call("POST", "/v1/tenants", { name: "acme" });
    const { page } = await service.open("/tenants/acme");
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("reader");
    await page.getByLabel("Role").selectOption("scopes");
    await page.getByLabel("operate").check();
    await page.getByRole("button", { name: "Create key" }).click();
    const key = await page.locator("code.key-text").innerText();
    const other = await service.open("/quotas", { key });
    await other.page.getByRole("heading", { level: 1, name: "Quotas and usage" }).waitFor();
    expect(await linksOf(other.page)).toEqual(
      expect.arrayContaining(["Workers and queue", "Quotas and usage"]),
    );
    await page.getByRole("button", { name: "Revoke reader" }).click();
    await page.getByRole("dialog").getByText("stops working at once").waitFor();
    await page.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByRole("row", { name: /reader.*revoked/ }).waitFor();
    await other.page.reload();
    await other.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await other.page.getByLabel("API key").fill(key);
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await other.page.getByRole("alert").waitFor();
  });

  test("[19] a tenant is deleted once its name was typed, and the one of the admins cannot be", async () => {
    const service = await inspect(createBuildWorld());
    await makeTenant(service, "acme");
    const { page } = await service.open("/tenants");
    await page.getByRole("link", { name: "acme" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    const last = page.getByRole("button", { name: "Delete everything" });
    expect(await last.isDisabled()).toBe(true);
    await page.getByLabel("Type its name to continue").fill("acm");
    expect(await last.isDisabled()).toBe(true);
    await page.getByLabel("Type its name to continue").fill("acme");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Tenants and keys" }).waitFor();
    await expect
      .poll(async () => (await service.call<{ data: unknown[] }>("GET", "/v1/tenants")).data.length)
      .toBe(1);
    await page.reload();
    await page.getByRole("link", { name: "default" }).click();
    await page.getByRole("heading", { level: 1, name: "default" }).waitFor();
    await page.getByRole("button", { name: "New key" }).waitFor();
    expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
  });

  test("[19] what is refused is said where it was asked for", async () => {
    const service = await inspect(createBuildWorld());
    const { page } = await service.open("/tenants");
    for (const name of ["default", "<img src=x onerror=window.hacked=1>"]) {
      await page.getByRole("button", { name: "New tenant" }).click();
      await page.getByLabel("Name").fill(name);
      await page.getByRole("button", { name: "Create tenant" }).click();
      await page.getByRole("dialog").getByRole("alert").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    expect(await page.evaluate("window.hacked")).toBeUndefined();
  });

  test("[19] a long list comes in parts", async () => {
    const service = await inspect(createBuildWorld());
    await service.call("POST", "/v1/tenants", { name: "acme" });
    for (let number = 1; number <= 105; number += 1)
      await service.call("POST", "/v1/keys", { tenant: "acme", name: `key ${number}`, role: "viewer" });
    const { page } = await service.open("/tenants/acme");
    await page.getByText("100 keys so far").waitFor();
    expect(await page.getByRole("row").count()).toBe(101);
    await page.getByRole("button", { name: "Show more" }).click();
    await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
    expect(await page.getByRole("row").count()).toBe(106);
  });
});

describeInBrowser("what a role sees", () => {
  test.each([
    ["viewer", ["Quotas and usage"]],
    ["operator", ["Workers and queue", "Quotas and usage"]],
    ["admin", ["Keys", "Workers and queue", "Quotas and usage", "Audit"]],
  ] as const)("[19] of another tenant, as %s", async (role, seen) => {
    const service = await inspect(createBuildWorld());
    const { key } = await makeTenant(service, "acme", role);
    const { page } = await service.open("/skills", { key });
    const links = await linksOf(page);
    expect(links.slice(links.indexOf("Routing") + 1)).toEqual(seen);
    const refused: Readonly<Record<string, string>> = {
      "Tenants and keys": "tenants",
      Keys: "keys",
      "Workers and queue": "workers",
      "Quotas and usage": "quotas",
      Audit: "audit",
    };
    for (const [title, address] of Object.entries(refused)) {
      if ((seen as readonly string[]).includes(title)) continue;
      await page.goto(`${service.url}/#/${address}`);
      await page.getByRole("alert").first().waitFor();
    }
    await page.goto(`${service.url}/#/tenants/default`);
    await page.getByRole("alert").first().waitFor();
    await page.goto(`${service.url}/#/quotas/default`);
    await page.getByRole("alert").first().waitFor();
  });

  test("[19] the keyboard goes there, too", async () => {
    const service = await inspect(createBuildWorld());
    const { page } = await service.open("/skills");
    for (const [key, title] of [
      ["k", "Tenants and keys"],
      ["w", "Workers and queue"],
      ["q", "Quotas and usage"],
      ["l", "Audit"],
    ] as const) {
      await page.keyboard.press("g");
      await page.keyboard.press(key);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
  });
});

describeInBrowser("signing in", () => {
  test("[19] where there is an identity provider, it is offered beside the key; elsewhere it is not", async () => {
    const ways = {
      METIER_OIDC_ISSUER: "http://127.0.0.1:9",
      METIER_OIDC_AUDIENCE: "metier",
      METIER_OIDC_CLIENT_ID: "page",
      METIER_OIDC_CLIENT_SECRET: "a secret",
    };
    const service = await inspect(createBuildWorld(), { environment: ways });
    const { page, complaints } = await openPage({ bypassCSP: true });
    await page.goto(service.url);
    const link = page.getByRole("link", { name: "Sign in with your organization" });
    expect(await link.getAttribute("href")).toBe("/v1/sign-in/oidc");
    await page.getByLabel("API key").waitFor();
    expect(await findViolations(page)).toEqual([]);
    const plain = await inspect(createBuildWorld());
    await page.goto(plain.url);
    await page.getByLabel("API key").waitFor();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await link.count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});

describeInBrowser("workers and queue", () => {
  test("[19] the queue says what waits and whose it is; a worker drains after a question", async () => {
    const world = createBuildWorld();
    const service = await inspect(world);
    await announceWorker(world, "elsewhere");
    const { page } = await service.open("/workers");
    await page.getByText("Nothing is waiting or in progress.").waitFor();
    await service.call("POST", "/v1/runs", { skill: "build", message: "Please run: echo one" });
    await expect
      .poll(() => page.getByText("Waiting for a person or a time").locator("..").innerText())
      .toContain("1");
    const worker = page.getByRole("row", { name: /elsewhere/ });
    await worker.getByText("working").waitFor();
    await worker.getByText("3 of 8").waitFor();
    await worker.getByRole("button", { name: /^Drain / }).click();
    await page.getByRole("button", { name: "Keep it running" }).click();
    await worker.getByText("working").waitFor();
    await worker.getByRole("button", { name: /^Drain / }).click();
    await page.getByRole("button", { name: "Drain it" }).click();
    await worker.getByText("draining").waitFor();
  });
});

describeInBrowser("quotas and usage", () => {
  test("[19] the platform's admin limits a tenant, its own admin the users; both see what is used", async () => {
    const service = await inspect(createBuildWorld());
    const { key } = await makeTenant(service, "acme");
    const { page } = await service.open("/tenants/acme");
    await page.getByRole("link", { name: "Its quotas" }).click();
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByLabel("Runs at the same time").fill("many");
    await page.getByText("Enter a whole number, or leave it empty for no limit.").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await page.getByLabel("Runs at the same time").fill("4");
    await page.getByLabel("Storage, in megabytes").fill("1.5");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("0 of 4").waitFor();
    await page.getByText("0 B of 1.5 MB").waitFor();
    expect(await page.getByRole("button", { name: "Quotas for one user" }).count()).toBe(0);

    const own = await service.open("/quotas", { key });
    await own.page.getByText("0 of 4").waitFor();
    await own.page.getByRole("button", { name: "Edit: Each user" }).click();
    await own.page.getByLabel("Open runs").fill("7");
    await own.page.getByRole("button", { name: "Save" }).click();
    await own.page.getByText("Open runs: 7").waitFor();
    await own.page.getByRole("button", { name: "Quotas for one user" }).click();
    await own.page.getByLabel("User", { exact: true }).fill("ada");
    await own.page.getByLabel("Starts per minute").fill("2");
    await own.page.getByRole("button", { name: "Save" }).click();
    await own.page.getByRole("row", { name: /ada.*Starts per minute: 2/ }).waitFor();
    const saved = await service.call("GET", "/v1/quotas", undefined, key);
    expect(saved).toMatchObject({
      tenant: { concurrentRuns: 4, storageBytes: 1_572_864 },
      eachUser: { openRuns: 7 },
      users: { ada: { startsPerMinute: 2 } },
    });
    await own.page.getByRole("button", { name: "Edit: ada" }).click();
    await own.page.getByLabel("Starts per minute").fill("");
    await own.page.getByRole("button", { name: "Save" }).click();
    await own.page.getByRole("row", { name: /ada/ }).waitFor({ state: "detached" });
  });

  test("[19] usage is shown by day, skill and user, and leads to the runs", async () => {
    const service = await inspect(createBuildWorld());
    const { key } = await service.call<MadeKey>("POST", "/v1/keys", {
      name: "of Ada",
      role: "operator",
      userId: "ada",
    });
    const wish = { skill: "build", message: "Please run: echo one", approve: "allow" };
    const { id } = await service.call<{ id: string }>("POST", "/v1/runs", wish, key);
    await expect
      .poll(async () => (await service.call<{ status: string }>("GET", `/v1/runs/${id}`)).status)
      .toBe("completed");
    const { page } = await service.open("/quotas");
    await page.getByText("Runs", { exact: true }).first().waitFor();
    await page.getByRole("tab", { name: "By skill" }).click();
    await page.getByRole("row", { name: /build.*1/ }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("row", { name: /ada.*1/ }).waitFor();
    await page.getByRole("link", { name: "ada" }).click();
    await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/runs?user=ada");
  });
});

describeInBrowser("audit", () => {
  test("[19] lines are shown newest first, narrowed and opened by the keyboard; new ones come by themselves", async () => {
    const service = await inspect(createBuildWorld());
    for (const name of ["one", "two"]) await service.call("POST", "/v1/agents", { name, instructions: "x" });
    const { page } = await service.open("/audit");
    await page.getByText("The log is intact.").waitFor();
    const rows = page.getByRole("grid").getByRole("row");
    await expect.poll(() => rows.nth(1).innerText()).toContain("two");
    await page.getByLabel("Order").selectOption("oldest");
    await expect.poll(() => rows.nth(1).innerText()).not.toContain("two");
    await page.getByLabel("Target").fill("two");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByRole("grid").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("agent.created").waitFor();
    expect(new URL(page.url()).hash).toMatch(/order=oldest.*subject=two.*line=\d/);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByLabel("Target").fill("three");
    await page.getByText("No line matches this filter.").waitFor();
    await service.call("POST", "/v1/agents", { name: "three", instructions: "x" });
    await rows.nth(1).getByText("three").waitFor();
  });

  test("[19] a line that was changed in the store, and one that was taken out, are named", async () => {
    const world = createBuildWorld();
    const service = await inspect(world);
    for (const name of ["one", "two", "three", "four"])
      await service.call("POST", "/v1/agents", { name, instructions: "x" });
    const { page } = await service.open("/audit");
    await page.getByText("The log is intact.").waitFor();
    await page.getByRole("button", { name: "Recompute the digests" }).click();
    await page.getByText("match their contents").waitFor();
    const store = new DatabaseSync(storeOf(world));
    store.exec("UPDATE audit SET subject = 'another' WHERE subject = 'two'");
    await page.getByRole("button", { name: "Recompute the digests" }).click();
    await page.getByText(/^Line \d+ was changed\.$/).waitFor();
    store.exec("DELETE FROM audit WHERE subject = 'three'");
    store.close();
    await page.reload();
    await page.getByText(/^The log is broken at line \d+\.$/).waitFor();
  });
});

describeInBrowser("forms and questions", () => {
  test.each(["light", "dark"] as const)("[19] axe finds nothing in them, %s", async (colorScheme) => {
    const world = createBuildWorld();
    const service = await inspect(world);
    await announceWorker(world, "elsewhere");
    await makeTenant(service, "acme");
    const { page, complaints } = await service.open("/skills", { colorScheme, bypassCSP: true });
    const look = async (address: string, ...buttons: readonly string[]): Promise<void> => {
      await page.goto(`${service.url}/#${address}`);
      for (const name of buttons) await page.getByRole("button", { name }).first().click();
      await page.getByRole("dialog").waitFor();
      expect({ address, buttons, found: await findViolations(page) }).toEqual({
        address,
        buttons,
        found: [],
      });
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await look("/tenants", "New tenant");
    await look("/tenants/acme", "New key");
    await look("/tenants/acme", "Revoke");
    await look("/tenants/acme", "Delete");
    await look("/workers", "Drain");
    await look("/quotas", "Edit");
    await look("/quotas", "Quotas for one user");
    await look("/audit?line=1");
    await page.goto(`${service.url}/#/tenants/acme`);
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("one more");
    await page.getByLabel("Role").selectOption("scopes");
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Create key" }).click();
    await page.getByText("This is the key. It won't be shown again.").waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
