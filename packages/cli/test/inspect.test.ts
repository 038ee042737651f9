/** `metier inspect` as a person starts it: a process, the printed address, a browser with cookies, and Ctrl-C. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonObject } from "@metier/base/json";
import { listRuns } from "@metier/run/events";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../../../test/support/repository.ts";
import { createRunWorld, openRuns, says } from "../../../test/support/scripted-runs.ts";
import { startStreaming } from "../../../test/support/streaming-provider.ts";
import type { World } from "../../../test/support/world.ts";

interface InspectProcess {
  readonly child: ChildProcess;
  readonly address: string;
}

async function startInspect(
  { home, project }: World,
  port = "0",
  environment?: Readonly<Record<string, string>>,
): Promise<InspectProcess> {
  const program = join(ROOT, "packages", "metier", "bin", "metier.js");
  const flags = environment ? [] : ["--no-open"];
  const child = spawn(process.execPath, [program, "inspect", ...flags, "--port", port], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, HOME: home, ...environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const [address] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(() => Promise.reject(new Error(said))),
  ])) as [string];
  return { child, address };
}

/** Its cookies in one line, and who it is. */
async function open(
  address: string,
): Promise<{ readonly url: string; readonly cookie: string; readonly csrf: string }> {
  const opened = await fetch(address, { redirect: "manual" });
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/"]);
  const cookie = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const url = new URL(address).origin;
  const me = (await (await fetch(`${url}/v1/me`, { headers: { cookie } })).json()) as JsonObject;
  expect(me).toMatchObject({ mode: "inspect", mayEditRules: false });
  return { url, cookie, csrf: String(me.csrf) };
}

test("the printed address opens the page; skills and kept runs are there, a run is started and watched, and Ctrl-C ends it all", async () => {
  const world = createRunWorld({ talk: [] });
  const kept = await (await openRuns(world, [says("Kept.")])).run({ skill: "talk" });
  const provider = await startStreaming(() => ({ pieces: ["It ", "is ", "done."] }));
  world.write({ "home/.metier/config.toml": provider.toml });
  const { child, address } = await startInspect(world);
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/open\?token=[\w-]{43}$/);
  const { url, cookie, csrf } = await open(address);
  const get = async (path: string) => (await fetch(`${url}${path}`, { headers: { cookie } })).json();
  expect(await (await fetch(url)).text()).toContain("<!doctype html>");
  const catalog = (await get("/v1/catalog")) as { readonly data: readonly JsonObject[] };
  const names = catalog.data.map(({ name }) => name);
  expect(names).toContain("talk");
  expect(names).toContain("summarize-text");
  expect(await get("/v1/runs")).toMatchObject({ data: [{ id: kept.result.runId, origin: "kept" }] });
  const started = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { cookie, "x-metier-csrf": csrf, origin: url },
    body: JSON.stringify({ skill: "talk", message: "Talk." }),
  });
  const { id } = (await started.json()) as JsonObject;
  const events = await (await fetch(`${url}/v1/runs/${id}/events`, { headers: { cookie } })).text();
  expect(events).toContain('"type":"run-finished"');
  expect(await get(`/v1/runs/${id}`)).toMatchObject({ status: "completed", text: "It is done." });
  const stream = await fetch(`${url}/v1/changes`, { headers: { cookie } });
  const gone = once(child, "exit");
  child.kill("SIGINT");
  await stream.text();
  expect(await gone).toEqual([0, null]);
  const runs = listRuns({ runs: join(world.home, ".metier", "state", "runs") });
  expect(runs.map(({ runId }) => runId)).toEqual([id, kept.result.runId]);
});

test("a browser is opened where there is a screen, with an address that is not the printed one, and outlives the inspector", async () => {
  const world = createRunWorld({ talk: [] });
  const programs = join(world.root, "programs");
  const seen = join(world.root, "seen");
  world.write({
    "programs/xdg-open": `#!/bin/sh\necho "$$ $1" > ${seen}.part\nmv ${seen}.part ${seen}\nexec sleep 30\n`,
  });
  chmodSync(join(programs, "xdg-open"), 0o755);
  const environment = { PATH: `${programs}:${process.env.PATH}`, DISPLAY: ":0" };
  const { child, address } = await startInspect(world, "0", environment);
  while (!existsSync(seen)) await new Promise((resolve) => setTimeout(resolve, 20));
  const [pid = "", opened = ""] = readFileSync(seen, "utf8").trim().split(" ");
  onTestFinished(() => void process.kill(Number(pid), "SIGKILL"));
  expect(opened).toContain(`${new URL(address).origin}/open?token=`);
  expect(opened).not.toBe(address);
  await open(opened);
  expect((await fetch(opened, { redirect: "manual" })).status).toBe(401);
  const gone = once(child, "exit");
  child.kill("SIGINT");
  expect(await gone).toEqual([0, null]);
  expect(process.kill(Number(pid), 0)).toBe(true);
});

test("two inspectors on one home work beside each other", async () => {
  const world = createRunWorld({ talk: [] });
  const first = await startInspect(world);
  const second = await startInspect(world);
  for (const { address } of [first, second]) await open(address);
  const crossed = new URL(second.address);
  crossed.port = new URL(first.address).port;
  expect((await fetch(crossed, { redirect: "manual" })).status).toBe(401);
});

test("a port that is no number, or that is taken, is refused with what to do", async () => {
  const world = createRunWorld({ talk: [] });
  const { address } = await startInspect(world);
  const { port } = new URL(address);
  for (const [given, message] of [
    ["many", "is not a number from 0 to 65535"],
    [port, "Cannot listen on `127.0.0.1`"],
  ] as const) {
    await expect(startInspect(world, given)).rejects.toThrow(message);
  }
});
