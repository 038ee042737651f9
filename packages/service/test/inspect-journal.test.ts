/** One person's inspector: its own runs, and what other processes do in the same home, which it only looks at. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import {
  createRunId,
  listRuns,
  openRunLog,
  type RunEvent,
  type RunEventBody,
  runFolder,
} from "@metier/run/events";
import { createScriptModel } from "@metier/run/model";
import { startLocalService } from "@metier/service";
import { expect, onTestFinished, test, vi } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { bash, createRunWorld, openRuns, readLog, says } from "../../../test/support/scripted-runs.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { World } from "../../../test/support/world.ts";
import { type Browser, openBrowser } from "./support/browser.ts";
import { openInspector } from "./support/open-inspector.ts";

function placesOf({ home }: World): { readonly runs: string } {
  return { runs: join(home, ".metier", "state", "runs") };
}

async function dataOf(browser: Browser, path: string): Promise<readonly JsonObject[]> {
  return (await browser.send("GET", path)).body.data as readonly JsonObject[];
}

async function settle(browser: Browser, id: unknown, status: string): Promise<JsonObject> {
  for (;;) {
    const { body } = await browser.send("GET", `/v1/runs/${id}`);
    if (body.status === status) return body;
    if (body.status === "failed" || body.status === "refused") throw new Error(JSON.stringify(body));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const NO_USAGE = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };

/** What a `metier run` in another terminal writes, event by event. */
function beginElsewhere(world: World, id: string = createRunId()) {
  const sink = openRunLog(placesOf(world), id);
  let seq = 0;
  const write = (body: RunEventBody): void => {
    seq += 1;
    sink.write({ v: 1, runId: id, seq, at: new Date().toISOString(), ...body } as RunEvent);
  };
  write({
    type: "run-started",
    skill: "build",
    source: "user",
    location: join(world.home, "SKILL.md"),
    trust: "trusted",
    model: "scripted",
    depth: 0,
    tools: [],
    workDir: join(world.home, "work"),
    cwd: world.project,
    env: [],
  } as RunEventBody);
  return {
    id,
    write,
    end: (text: string) =>
      write({
        type: "run-finished",
        status: "completed",
        text,
        iterations: 1,
        usage: NO_USAGE,
        durationMs: 5,
      } as RunEventBody),
  };
}

test("a run that the command line kept is listed, read and followed to its end, with its files, and marked as only seen", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash"] });
  const { run } = await openRuns(world, [bash('echo hi > "$METIER_WORK_DIR/out.txt"'), says("Built.")]);
  const { result } = await run({ skill: "build", message: "Build.", approve: "all" });
  const { browser } = await openInspector(world);
  const [listed] = await dataOf(browser, "/v1/runs");
  expect(listed).toMatchObject({ id: result.runId, status: "completed", skill: "build", origin: "kept" });
  expect((await browser.send("GET", `/v1/runs/${result.runId}`)).body).toMatchObject({
    text: "Built.",
    usage: result.usage,
    events: readLog(world, result.runId).length,
  });
  expect(await dataOf(browser, `/v1/runs/${result.runId}/files`)).toEqual([{ path: "out.txt", size: 3 }]);
  expect((await browser.send("GET", `/v1/runs/${result.runId}/files/out.txt`)).text).toBe("hi\n");
  const { text } = await browser.send("GET", `/v1/runs/${result.runId}/events`);
  expect([...text.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number))).toEqual(
    readLog(world, result.runId).map(({ seq }) => seq),
  );
  expect(text).not.toContain(world.home);
});

test.each(["the first", "the last"])(
  "a kept run whose log has no time in %s event is listed by the time in its id",
  async (which) => {
    const world = createRunWorld({ build: [] });
    const kept = beginElsewhere(world);
    kept.end("Built.");
    const { log } = runFolder(placesOf(world), kept.id);
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const broken = which === "the first" ? 0 : lines.length - 1;
    const changed = lines.map((line, index) =>
      index === broken ? line.replace(/"at":"[^"]*"/, '"at":"yesterday"') : line,
    );
    writeFileSync(log, `${changed.join("\n")}\n`);
    const { browser } = await openInspector(world);
    const listed = await browser.send("GET", "/v1/runs");
    expect(listed.status).toBe(200);
    const createdAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(listed.body.data).toMatchObject([{ id: kept.id, createdAt, updatedAt: createdAt }]);
    for (const path of [`/v1/runs/${kept.id}`, "/v1/statistics", `/v1/runs/${kept.id}/events`]) {
      expect((await browser.send("GET", path)).status).toBe(200);
    }
  },
);

test("a run that is started here asks, is approved here, and is kept like those of the command line", async () => {
  const world = createRunWorld({ build: [] });
  const script = [bash('echo done > "$METIER_WORK_DIR/out.txt"'), says("It is built.")];
  const { browser, stop } = await openInspector(world, { script });
  expect((await browser.send("GET", "/v1/me")).body).toMatchObject({ mode: "inspect", userId: "ada" });
  expect((await dataOf(browser, "/v1/skills")).map(({ name }) => name)).toContain("build");
  const { body } = await browser.send("POST", "/v1/runs", { body: { skill: "build", message: "Build it." } });
  await settle(browser, body.id, "waiting");
  const [approval] = await dataOf(browser, "/v1/approvals?status=pending");
  expect(approval).toMatchObject({ run: body.id, tool: "bash" });
  const answer = { body: { decision: "approve" } };
  expect((await browser.send("POST", `/v1/approvals/${approval?.id}`, answer)).status).toBe(200);
  expect(await settle(browser, body.id, "completed")).toMatchObject({ text: "It is built." });
  expect(await dataOf(browser, "/v1/runs")).toMatchObject([{ id: body.id }]);
  await stop();
  expect(listRuns(placesOf(world))).toMatchObject([{ runId: body.id, state: "completed", userId: "ada" }]);
  const again = await openInspector(world);
  expect(await dataOf(again.browser, "/v1/runs")).toMatchObject([{ id: body.id, origin: "kept" }]);
});

test("a run in another terminal is seen while it goes on, and cannot be cancelled from here", async () => {
  const world = createRunWorld({ build: [] });
  const { browser, url } = await openInspector(world);
  const run = beginElsewhere(world);
  await settle(browser, run.id, "running");
  const cookie = [...browser.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const response = await fetch(`${url}/v1/runs/${run.id}/events`, { headers: { cookie } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  const until = async (text: string): Promise<void> => {
    while (!seen.includes(text)) seen += (await reader?.read())?.value ?? "";
  };
  await until("run-started");
  run.write({ type: "diagnostic", code: "a-code", message: "halfway" } as RunEventBody);
  await until("halfway");
  const cancelled = await browser.send("POST", `/v1/runs/${run.id}/cancel`);
  expect([cancelled.status, cancelled.body.error?.code]).toEqual([409, "run_elsewhere"]);
  expect(cancelled.body.error?.hint).toContain("Ctrl-C");
  run.end("Done elsewhere.");
  await until("run-finished");
  expect((await reader?.read())?.done).toBe(true);
  expect(await settle(browser, run.id, "completed")).toMatchObject({ text: "Done elsewhere." });
});

test("beside a service, its runs and questions are seen, and only the service answers them", async () => {
  const world = createRunWorld({ build: [] });
  const { browser } = await openInspector(world);
  const served = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
    metier: { models: { default: createScriptModel([bash("echo hi"), says("Served.")]) } },
  });
  if (!served.ok) throw new Error(served.refusal.message);
  onTestFinished(() => served.value.stop(2_000));
  const client = openBrowser(served.value.url);
  await client.signIn(ADMIN_KEY);
  const { body } = await client.send("POST", "/v1/runs", { body: { skill: "build", message: "Build." } });
  await settle(client, body.id, "waiting");
  expect(await settle(browser, body.id, "waiting")).toMatchObject({ origin: "kept", skill: "build" });
  const [approval] = await dataOf(browser, "/v1/approvals?status=pending");
  const answer = { body: { decision: "approve" } };
  const refused = await browser.send("POST", `/v1/approvals/${approval?.id}`, answer);
  expect([refused.status, refused.body.error?.code]).toEqual([409, "run_elsewhere"]);
  expect(refused.body.error?.message).toContain("`metier serve`");
  expect((await client.send("POST", `/v1/approvals/${approval?.id}`, answer)).status).toBe(200);
  expect(await settle(browser, body.id, "completed")).toMatchObject({ text: "Served." });
  expect((await dataOf(browser, "/v1/runs")).map(({ id }) => id)).toEqual([body.id]);
});

test("what others have not finished when an inspector starts is left to them", async () => {
  const world = createRunWorld({ build: [] });
  const served = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
    metier: { models: { default: createScriptModel([bash("echo hi"), says("Served.")]) } },
  });
  if (!served.ok) throw new Error(served.refusal.message);
  onTestFinished(() => served.value.stop(2_000));
  const client = openBrowser(served.value.url);
  await client.signIn(ADMIN_KEY);
  const { body } = await client.send("POST", "/v1/runs", { body: { skill: "build" } });
  await settle(client, body.id, "waiting");
  const elsewhere = beginElsewhere(world);
  const before = (await client.send("GET", `/v1/runs/${body.id}`)).body.events;
  const { browser, log, stop } = await openInspector(world, { script: [says("Wrong.")] });
  // The inspector's own run comes after whatever it would have caught up with.
  const own = await browser.send("POST", "/v1/runs", { body: { skill: "build" } });
  await settle(browser, own.body.id, "completed");
  await stop();
  expect((await client.send("GET", `/v1/runs/${body.id}`)).body).toMatchObject({
    status: "waiting",
    events: before,
  });
  expect(readLog(world, elsewhere.id)).toHaveLength(1);
  expect(log.filter((line) => !line.includes('"level":"info"'))).toEqual([]);
});

test("pages of the list hold every run once, wherever each of them lies", async () => {
  const world = createRunWorld({ build: [] });
  const script = Array.from({ length: 3 }, () => says("Done."));
  const first = await openInspector(world, { script });
  const second = await openInspector(world, { script });
  const ids: string[] = [];
  for (const { browser } of [first, second, first, second]) {
    const { body } = await browser.send("POST", "/v1/runs", { body: { skill: "build" } });
    await settle(browser, body.id, "completed");
    const other = beginElsewhere(world);
    other.end("Done.");
    ids.unshift(String(body.id));
    ids.unshift(other.id);
  }
  for (const { browser } of [first, second]) {
    const listed: unknown[] = [];
    let before = "";
    do {
      const { body } = await browser.send("GET", `/v1/runs?limit=3${before}`);
      listed.push(...(body.data as readonly JsonObject[]).map(({ id }) => id));
      before = body.next === undefined ? "" : `&after=${body.next}`;
    } while (before !== "");
    expect(listed).toEqual(ids.toSorted().reverse());
  }
});

test("what waits when the inspector ends is cancelled, also in its log, and nothing stays behind", async () => {
  const world = createRunWorld({ build: [] });
  const temporary = temporaryFolder();
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { browser, stop } = await openInspector(world, { script: [bash("echo hi"), says("Never.")] });
  const { body } = await browser.send("POST", "/v1/runs", { body: { skill: "build" } });
  await settle(browser, body.id, "waiting");
  const stream = browser.send("GET", `/v1/runs/${body.id}/events`);
  await stop();
  expect((await stream).status).toBe(200);
  expect(listRuns(placesOf(world))).toMatchObject([{ runId: body.id, state: "cancelled" }]);
  expect(readdirSync(temporary).filter((name) => name.startsWith("metier-inspect-"))).toEqual([]);
});

test("where there is no sandbox, looking works and starting a run is refused with the reason", async () => {
  const world = createRunWorld({ build: [] });
  beginElsewhere(world).end("Done.");
  vi.stubEnv("PATH", temporaryFolder()); // It needs programs that a machine may have.
  onTestFinished(() => void vi.unstubAllEnvs());
  const { browser, noRuns } = await openInspector(world, {
    config: { sandbox: { backend: "sandbox-runtime" } },
  });
  expect(noRuns).toContain("sandbox-runtime");
  expect(await dataOf(browser, "/v1/runs")).toHaveLength(1);
  const refused = await browser.send("POST", "/v1/runs", { body: { skill: "build" } });
  expect([refused.status, refused.body.error?.code]).toEqual([503, "no_runs_here"]);
  expect(refused.body.error?.message).toBe(noRuns);
});

test("`always` approves, writes the rule that is shown, and later calls are not asked about; without `--allow-edit` it is refused", async () => {
  const world = createRunWorld({ build: [] });
  const twice = [bash("date"), says("Done.")];
  const asked = async (browser: Browser): Promise<JsonObject> => {
    const { body } = await browser.send("POST", "/v1/runs", { body: { skill: "build" } });
    await settle(browser, body.id, "waiting");
    const [approval] = await dataOf(browser, "/v1/approvals?status=pending");
    return approval ?? {};
  };
  const always = { body: { decision: "approve", always: true } };
  const closed = await openInspector(world, { script: twice });
  const refused = await closed.browser.send(
    "POST",
    `/v1/approvals/${(await asked(closed.browser)).id}`,
    always,
  );
  expect([refused.status, refused.body.error?.code]).toEqual([403, "rules_not_editable"]);
  expect(refused.body.error?.hint).toContain("--allow-edit");
  await closed.stop();
  const { browser } = await openInspector(world, { script: [...twice, ...twice], allowEdit: true });
  expect((await browser.send("GET", "/v1/me")).body.mayEditRules).toBe(true);
  const approval = await asked(browser);
  expect(approval.alwaysRule).toMatch(/^"bash.*" = "allow"$/);
  const denied = { body: { decision: "deny", always: true } };
  expect((await browser.send("POST", `/v1/approvals/${approval.id}`, denied)).status).toBe(422);
  expect((await browser.send("POST", `/v1/approvals/${approval.id}`, always)).status).toBe(200);
  await settle(browser, approval.run, "completed");
  const config = readFileSync(join(world.home, ".metier", "config.toml"), "utf8");
  expect(config).toContain(String(approval.alwaysRule));
  const { body } = await browser.send("POST", "/v1/runs", { body: { skill: "build" } });
  await settle(browser, body.id, "completed");
});

test("the address that a program is started with opens once, the printed one always", async () => {
  const { url, makeAddress } = await openInspector(createRunWorld({ build: [] }));
  const address = makeAddress().slice(url.length);
  expect((await openBrowser(url).send("GET", address)).status).toBe(303);
  expect((await openBrowser(url).send("GET", address)).body.error?.code).toBe("token_unknown");
});

test("an inspector manages no keys, secrets, schedules or uploads", async () => {
  const { browser } = await openInspector(createRunWorld({ build: [] }));
  const refused = await browser.send("PUT", "/v1/secrets/TOKEN", { body: { value: "x" } });
  expect([refused.status, refused.body.error?.code]).toEqual([403, "scope_missing"]);
  expect((await browser.send("GET", "/v1/keys")).status).toBe(403);
});
