/** Real runs on machines with separate homes: what a worker has of skills and files, and what it refuses. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@metier/base/json";
import { createScriptModel, type Script } from "@metier/run/model";
import { expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { bash, createRunWorld, says, useSkill } from "../../../test/support/scripted-runs.ts";
import { setHomeModels } from "../src/providers/model-access.ts";
import type { RunningService } from "../src/start-service.ts";
import { openMachines } from "./support/open-machines.ts";
import { archiveOf, openStores, type SharedStores, useObjectStore } from "./support/shelves.ts";

useObjectStore();

interface Client {
  call(method: string, path: string, body?: JsonObject | Buffer): Promise<JsonObject>;
  text(path: string): Promise<string>;
  settle(id: unknown): Promise<JsonObject>;
}

function clientOf({ url }: RunningService, key = ADMIN_KEY): Client {
  const headers = { authorization: `Bearer ${key}` };
  const call: Client["call"] = async (method, path, body) => {
    const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body);
    const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body: sent }) });
    return (await response.json()) as JsonObject;
  };
  return {
    call,
    text: async (path) => (await fetch(`${url}${path}`, { headers })).text(),
    async settle(id) {
      for (;;) {
        const run = await call("GET", `/v1/runs/${id}`);
        if (["completed", "failed", "refused", "limited"].includes(String(run.status))) return run;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

function scripted(script: Script) {
  const model = createScriptModel(script);
  onTestFinished(() => model.assertDone());
  return { models: { default: model } };
}

/** Another tenant, whose runs may use the models of the machines. */
async function addTenant(stores: SharedStores, server: RunningService, name: string) {
  const admin = clientOf(server);
  const { id } = await admin.call("POST", "/v1/tenants", { name });
  const made = await admin.call("POST", "/v1/keys", { tenant: name, name: "its admin", role: "admin" });
  await setHomeModels(stores.records, { tenant: String(id), keyId: "test" }, true);
  return { id: String(id), client: clientOf(server, String(made.key)) };
}

test("a run of the home's skill goes on where nobody has that skill, and its files are given where it did not work", async () => {
  const stores = await openStores();
  const home = createRunWorld({
    build: ["", "Say OF THE HOME."],
    helper: ["", "Help the builder."],
  });
  const { server, startWorker } = await openMachines(stores, home);
  const elsewhere = createRunWorld({ own: ["", "Of the other home."] });
  await startWorker(
    elsewhere,
    scripted([
      bash('echo from elsewhere > "$METIER_WORK_DIR/out.txt"'),
      useSkill("helper"),
      useSkill("own", "Do it.", { toolResult: { contains: "Help the builder." } }),
      says("Built.", { toolResult: { excludes: "Of the other home" } }),
    ]),
  );
  const client = clientOf(server);
  const { id } = await client.call("POST", "/v1/runs", { skill: "build", message: "Go.", approve: "allow" });
  const run = await client.settle(id);
  expect(run).toMatchObject({ status: "completed", text: "Built.", trust: "trusted" });
  const { digest } = await client.call("GET", "/v1/catalog/skills/user%3Abuild");
  expect(run.digest).toBe(digest);
  expect(await client.call("GET", `/v1/runs/${id}/files`)).toEqual({ data: [{ path: "out.txt", size: 15 }] });
  expect(await client.text(`/v1/runs/${id}/files/out.txt`)).toBe("from elsewhere\n");
});

test("a conversation of another tenant has its uploads and what it was given, and nothing of a home", async () => {
  const stores = await openStores();
  const home = createRunWorld({ build: ["", "Say BUILD."], secret: ["", "Say SECRET."] });
  const { server, startWorker } = await openMachines(stores, home);
  const { id: tenant, client } = await addTenant(stores, server, "acme");
  const admin = clientOf(server);
  expect(await client.call("GET", "/v1/skills")).toEqual({ data: [] });
  expect(await client.call("POST", "/v1/runs", { skill: "build" })).toMatchObject({
    error: { code: "unknown_skill" },
  });
  const given = await admin.call("POST", "/v1/tenants/acme/skills", { name: "build" });
  expect(given).toMatchObject({ name: "build", trust: "trusted" });
  expect(await admin.call("GET", `/v1/tenants/${tenant}/skills`)).toMatchObject({ data: [given] });
  const { digest } = await client.call("POST", "/v1/skills", archiveOf("poet", "Say POET."));
  await client.call("POST", `/v1/skills/poet/versions/${digest}/grant`);
  const { data } = await client.call("GET", "/v1/skills");
  expect(data).toMatchObject([
    { name: "build", source: "server" },
    { name: "poet", source: "upload" },
  ]);
  const catalog = JSON.stringify(await client.call("GET", "/v1/catalog"));
  expect(catalog).toContain("given:build");
  expect(catalog).toContain("upload:poet");
  expect(catalog).not.toContain("secret");
  await startWorker(
    createRunWorld({ other: ["", "Say OTHER."] }),
    scripted([
      useSkill("secret", "Go."),
      useSkill("other", "Go.", { toolResult: { excludes: "Say SECRET" } }),
      useSkill("poet", "Go.", { toolResult: { excludes: "Say OTHER" } }),
      says("All tried.", { toolResult: { contains: "Say POET" } }),
      says("Built.", { system: { contains: "Say BUILD" } }),
    ]),
  );
  const agent = await client.call("POST", "/v1/agents", { name: "clerk", instructions: "Answer." });
  const session = await client.call("POST", "/v1/sessions", { agent: String(agent.name) });
  const sent = await client.call("POST", `/v1/sessions/${session.id}/messages`, {
    message: "Try all.",
    approve: "allow",
  });
  expect(await client.settle(sent.run)).toMatchObject({ status: "completed", text: "All tried." });
  const { id } = await client.call("POST", "/v1/runs", { skill: "build", message: "Go." });
  expect(await client.settle(id)).toMatchObject({ status: "completed", text: "Built." });
  expect(await admin.call("DELETE", "/v1/tenants/acme/skills/build")).toEqual({ name: "build" });
  expect(await client.call("POST", "/v1/runs", { skill: "build" })).toMatchObject({
    error: { code: "unknown_skill" },
  });
  const { data: lines } = await client.call("GET", "/v1/audit");
  expect(JSON.stringify(lines)).toContain("skill.given");
});

test("a content that is not what was ordered is never run, and the run says so", async () => {
  const stores = await openStores();
  const home = createRunWorld({ build: ["", "Say BUILD."] });
  const { server, startWorker } = await openMachines(stores, home);
  const client = clientOf(server);
  const { id } = await client.call("POST", "/v1/runs", { skill: "build", message: "Go." });
  for await (const { name } of stores.blobs.entries("")) {
    const sealed = Buffer.from((await stores.blobs.get(name)) ?? []);
    sealed.writeUInt8(sealed.readUInt8(sealed.length - 1) ^ 1, sealed.length - 1);
    await stores.blobs.delete(name);
    await stores.blobs.put(name, sealed);
  }
  await startWorker(createRunWorld({ build: ["", "Say SOMETHING ELSE."] }), scripted([]));
  const run = await client.settle(id);
  expect(run).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("cannot be used") },
  });
  expect(JSON.stringify(run)).toMatch(/Content sha256:\w+ of the skill `build`/);
});

test("what a worker fetched is what the tenant's content is, and lies for its owner alone", async () => {
  const stores = await openStores();
  const { server, startWorker } = await openMachines(stores, createRunWorld({}));
  const { id: tenant, client } = await addTenant(stores, server, "acme");
  const { digest } = await client.call("POST", "/v1/skills", archiveOf("poet", "Say POET."));
  const elsewhere = createRunWorld({ poet: ["", "Say ANOTHER POET."] });
  await startWorker(
    elsewhere,
    scripted([says("Poem.", { system: { contains: "Say POET", excludes: "ANOTHER" } })]),
  );
  const { id } = await client.call("POST", "/v1/runs", { skill: "poet", message: "Go." });
  const run = await client.settle(id);
  expect(run).toMatchObject({ status: "completed", digest });
  const cache = join(elsewhere.home, ".metier/state/service/skills", tenant, "poet");
  const file = join(cache, String(digest).replace(":", "-"), "SKILL.md");
  expect(readFileSync(file, "utf8")).toContain("Say POET.");
});
