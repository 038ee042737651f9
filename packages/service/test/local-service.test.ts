/** The whole service on one machine: real runs in the sandbox with a scripted model, over HTTP. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@metier/base/json";
import { metierPlaces } from "@metier/base/places";
import { openAccounts } from "@metier/capabilities/broker";
import { createScriptModel, type Script } from "@metier/run/model";
import type { MetierOptions } from "@metier/runtime";
import { startLocalService } from "@metier/service";
import { expect, onTestFinished, test } from "vitest";
import { tarOf } from "../../../test/support/archives.ts";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { bash, calls, createRunWorld, says } from "../../../test/support/scripted-runs.ts";
import { startStreaming } from "../../../test/support/streaming-provider.ts";
import { skillText } from "../../../test/support/temporary.ts";
import type { World } from "../../../test/support/world.ts";
import type { RunningService } from "../src/start-service.ts";

const SECRET = "canary-4f1c9d27a6e84b03";

async function openLocal(
  world: World,
  script: Script,
  more: MetierOptions = {},
  limits: Pick<Parameters<typeof startLocalService>[0], "snapshots"> = {},
): Promise<{ readonly service: RunningService; readonly log: string[] }> {
  const log: string[] = [];
  const model = createScriptModel(script);
  const started = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
    metier: { models: { default: model }, ...more },
    times: { sweepMs: 50 },
    ...limits,
    printLog: (line) => void log.push(line),
  });
  if (!started.ok) throw new Error(started.refusal.message);
  onTestFinished(() => started.value.stop(2_000));
  return { service: started.value, log };
}

async function call(
  { url }: RunningService,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const response = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonObject;
}

async function settle(service: RunningService, id: string, status: string): Promise<JsonObject> {
  for (;;) {
    const run = await call(service, "GET", `/v1/runs/${id}`);
    if (run.status === status) return run;
    if (run.status === "failed" || run.status === "refused") throw new Error(JSON.stringify(run));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function everyFile(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

test("a run asks although its skill pre-approves, is approved over HTTP, and leaves its file; no place of the server is told", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash"] });
  const { service } = await openLocal(world, [
    bash('echo done > "$METIER_WORK_DIR/out.txt"; pwd'),
    says("It is built."),
  ]);
  const { id } = await call(service, "POST", "/v1/runs", { skill: "build", message: "Build it." });
  await settle(service, String(id), "waiting");
  const { data } = await call(service, "GET", "/v1/approvals?status=pending");
  const [approval] = data as readonly JsonObject[];
  expect(approval).toMatchObject({ run: id, tool: "bash" });
  expect(await call(service, "POST", `/v1/approvals/${approval?.id}`, { decision: "approve" })).toMatchObject(
    {
      status: "approved",
    },
  );
  const run = await settle(service, String(id), "completed");
  expect(run).toMatchObject({ text: "It is built.", files: [{ path: "out.txt", size: 5 }] });
  const shown = await call(service, "GET", "/v1/catalog/skills/user%3Abuild");
  expect(run).toMatchObject({
    digest: shown.digest,
    model: expect.any(String),
    trust: "trusted",
    children: [],
  });
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const file = await fetch(`${service.url}/v1/runs/${id}/files/out.txt`, { headers });
  expect(await file.text()).toBe("done\n");
  const events = await (await fetch(`${service.url}/v1/runs/${id}/events`, { headers })).text();
  const numbers = [...events.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  expect(events).toContain('"type":"run-finished"');
  expect(`${JSON.stringify(run)}${events}`).not.toContain(world.home);
});

test("a secret that a run uses and writes down is in no table, snapshot, event, log, metric or answer", async () => {
  const world = createRunWorld({ spy: ["allowed-tools: Bash\nenv: [TOKEN]"] });
  const command =
    'echo "$TOKEN" > "$METIER_WORK_DIR/seen.txt"; echo "length $(printf %s "$TOKEN" | wc -c): $TOKEN"';
  const { service, log } = await openLocal(world, [bash(command), says(`It is ${SECRET}.`)]);
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  await call(service, "PUT", "/v1/secrets/TOKEN", { value: SECRET });
  const { id } = await call(service, "POST", "/v1/runs", { skill: "spy", approve: "allow" });
  const run = await settle(service, String(id), "completed");
  const events = await (await fetch(`${service.url}/v1/runs/${id}/events`, { headers })).text();
  expect(events).toContain(`length ${SECRET.length}: `);
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  const told = [JSON.stringify(run), events, metrics, log.join("\n")];
  expect(told.filter((text) => text.includes(SECRET))).toEqual([]);
  await service.stop();
  const state = everyFile(join(world.home, ".metier"));
  const holding = state.filter((file) => readFileSync(file).includes(SECRET));
  // The work folder is the run's own: it is where the tool wrote it, and nowhere else.
  expect(holding).toEqual([expect.stringContaining(join(String(id), "work", "seen.txt"))]);
});

test("what the model is writing is streamed without a number, and its answer follows with one", async () => {
  const world = createRunWorld({ talk: [] });
  const provider = await startStreaming(() => ({
    pieces: Array.from({ length: 12 }, (_, at) => `word${at} `),
  }));
  world.write({ "home/.metier/config.toml": provider.toml });
  const started = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY },
  });
  if (!started.ok) throw new Error(started.refusal.message);
  onTestFinished(() => started.value.stop(2_000));
  const { id } = await call(started.value, "POST", "/v1/runs", { skill: "talk", message: "Talk." });
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const stream = await (await fetch(`${started.value.url}/v1/runs/${id}/events`, { headers })).text();
  const blocks = stream.split("\n\n").filter((block) => block.includes("data: "));
  const texts = blocks.filter((block) => block.startsWith("event: text\n"));
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.every((block) => !block.includes("id: "))).toBe(true);
  const written = texts.map((block) => JSON.parse(block.slice(block.indexOf("{"))).text as string).join("");
  expect(Array.from({ length: 12 }, (_, at) => `word${at} `).join("")).toContain(written.trim());
  const answered = blocks.findIndex((block) => block.includes('"model-answered"'));
  expect(blocks.findLastIndex((block) => block.startsWith("event: text\n"))).toBeLessThan(answered);
});

test("a refusal for want of trust says how to grant an upload, and how to trust a skill of the server", async () => {
  const world = createRunWorld({ spy: ["env: [TOKEN]"] });
  world.write({ "more/local/SKILL.md": skillText("name: local\ndescription: Needs a token.\nenv: [TOKEN]") });
  const { service } = await openLocal(world, [says("Done.")], { paths: [join(world.root, "more")] });
  await call(service, "PUT", "/v1/secrets/TOKEN", { value: SECRET });
  const archive = gzipSync(
    tarOf({
      name: "poet/SKILL.md",
      content: skillText("name: poet\ndescription: Writes a poem.\nenv: [TOKEN]"),
    }),
  );
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const uploaded = await fetch(`${service.url}/v1/skills`, { method: "POST", headers, body: archive });
  const { digest } = (await uploaded.json()) as JsonObject;
  const refuse = async (skill: string): Promise<string> => {
    const { id } = await call(service, "POST", "/v1/runs", { skill, message: "Go." });
    const events = await (await fetch(`${service.url}/v1/runs/${id}/events`, { headers })).text();
    const run = await call(service, "GET", `/v1/runs/${id}`);
    expect([skill, run.status]).toEqual([skill, "refused"]);
    return JSON.stringify(run) + events;
  };
  const upload = await refuse("poet");
  expect(upload).toContain(`POST /v1/skills/poet/versions/${digest}/grant`);
  expect(upload).not.toContain("metier trust");
  expect(upload).not.toContain("trustedPaths");
  expect(await refuse("local")).not.toContain("/grant");
  await call(service, "POST", `/v1/skills/poet/versions/${digest}/grant`);
  const { id } = await call(service, "POST", "/v1/runs", { skill: "poet", message: "Go." });
  expect((await settle(service, String(id), "completed")).text).toBe("Done.");
});

test("the run of an upload is the upload's own, whatever the home has by its name, and sees no skill of the home", async () => {
  const world = createRunWorld({ poet: ["user-invocable: false", "Say HOME."], helper: ["", "Help."] });
  const { service } = await openLocal(world, [says("One.")]);
  const content = skillText("name: poet\ndescription: Writes a poem.", "Say UPLOADED.");
  const archive = gzipSync(tarOf({ name: "poet/SKILL.md", content }));
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const uploaded = await fetch(`${service.url}/v1/skills`, { method: "POST", headers, body: archive });
  const { digest } = (await uploaded.json()) as JsonObject;
  await call(service, "POST", `/v1/skills/poet/versions/${digest}/grant`);
  const { id } = await call(service, "POST", "/v1/runs", { skill: "poet", message: "Go." });
  const run = await settle(service, String(id), "completed");
  expect(run.digest).toBe(digest);
});

test("an agent with a list of tools has no others: not in a run, not in a turn, not in what they start", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash"], outer: [] });
  const script: Script = [
    bash("echo never"),
    says("Not allowed."),
    bash("echo never"),
    says("Not allowed here either."),
    calls("use_skill", { name: "build", message: "Go." }),
    bash("echo never"),
    says("Nor inside."),
    says("Done."),
  ];
  const { service } = await openLocal(world, script);
  const tools = ["read_file", "use_skill"];
  await call(service, "POST", "/v1/agents", { name: "reader", instructions: "Read.", tools });
  const start = async (skill: string): Promise<JsonObject> => {
    const wish = { skill, agent: "reader", approve: "allow" };
    const { id } = await call(service, "POST", "/v1/runs", wish);
    return settle(service, String(id), "completed");
  };
  const denied = [{ tool: "bash", reason: "the run has no such tool" }];
  expect(await start("build")).toMatchObject({ text: "Not allowed.", denied });
  const session = await call(service, "POST", "/v1/sessions", { agent: "reader" });
  const turn = { message: "Go.", approve: "allow" };
  const sent = await call(service, "POST", `/v1/sessions/${session.id}/messages`, turn);
  const answered = await settle(service, String(sent.run), "completed");
  expect(answered).toMatchObject({ text: "Not allowed here either.", denied });
  const { id } = await start("outer");
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  const events = await (await fetch(`${service.url}/v1/runs/${id}/events`, { headers })).text();
  expect(events).toContain("Nor inside.");
  expect(events).not.toContain("never\\n");
});

test("a run whose work folder has no room beside the snapshots of its tenant ends, and says how much is allowed", async () => {
  const world = createRunWorld({ build: ["allowed-tools: Bash"] });
  const command = 'head -c 50000 /dev/urandom > "$METIER_WORK_DIR/large"';
  const script = [bash('echo small > "$METIER_WORK_DIR/a"'), bash(command), says("Never said.")];
  const { service } = await openLocal(world, script, {}, { snapshots: { bytesPerTenant: 20_000 } });
  const { id } = await call(service, "POST", "/v1/runs", { skill: "build", approve: "allow" });
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  await (await fetch(`${service.url}/v1/runs/${id}/events`, { headers })).text();
  const run = await call(service, "GET", `/v1/runs/${id}`);
  expect(run).toMatchObject({ status: "failed", error: { code: "run.storage-full" } });
  expect(JSON.stringify(run.error)).toMatch(
    /tenant `default` would take \d+ bytes, but only 20000 are allowed/,
  );
});

test("what capabilities keep for users of this machine goes with the user, and with the tenant", async () => {
  const world = createRunWorld({});
  const { service } = await openLocal(world, []);
  const places = metierPlaces(world.home, {});
  const accounts = openAccounts({ folder: join(places.state, "capabilities", "accounts") });
  const { id: tenant } = await call(service, "POST", "/v1/tenants", { name: "acme" });
  const owners = ["ada", "bob", `tenant/${tenant}/ada`, `tenant/${tenant}/eve`];
  for (const owner of owners) {
    const about = { accountRef: "one", createdAt: "2026-01-01T00:00:00.000Z" };
    await accounts.put(owner, "desk.mail", { ...about, credentialMaterial: {}, metadata: {} });
  }
  const left = () => accounts.listAll().map(({ userId }) => userId);
  const deleted = async (path: string) => {
    while ((await call(service, "DELETE", path)).status === "deleting") await pause(50);
  };
  await call(service, "POST", "/v1/keys", { role: "member", userId: "ada" });
  await deleted("/v1/users/ada");
  expect(left().sort()).toEqual(owners.slice(1));
  await deleted(`/v1/tenants/${tenant}`);
  expect(left()).toEqual(["bob"]);
});
