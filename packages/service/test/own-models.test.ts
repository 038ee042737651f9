/** Real runs with a tenant's own model provider, over HTTP on loopback. */
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@metier/base/json";
import type { Environment } from "@metier/base/programs";
import { createScriptModel, type Script } from "@metier/run/model";
import { startLocalService } from "@metier/service";
import { expect, onTestFinished, test } from "vitest";
import { tarOf } from "../../../test/support/archives.ts";
import { ADMIN_KEY } from "../../../test/support/follow-events.ts";
import { bash, createRunWorld, says } from "../../../test/support/scripted-runs.ts";
import { startStreaming } from "../../../test/support/streaming-provider.ts";

const KEY = "sk-canary-1b7e0c55";

interface Caller {
  call(method: string, path: string, body?: JsonObject | Buffer): Promise<JsonObject>;
  /** The run when it has ended, or why it was not started. */
  finish(wish: JsonObject): Promise<JsonObject>;
}

interface Local extends Caller {
  readonly log: readonly string[];
  /** The same with an admin key of another tenant. */
  addTenant(name: string): Promise<Caller>;
}

async function openLocal(
  environment: Environment,
  script: Script = [says("By the machine.")],
): Promise<Local> {
  const world = createRunWorld({ build: ["allowed-tools: Bash"] });
  const log: string[] = [];
  const started = await startLocalService({
    home: world.home,
    environment: { PATH: process.env.PATH, METIER_ADMIN_KEY: ADMIN_KEY, ...environment },
    metier: { models: { default: createScriptModel(script) } },
    times: { sweepMs: 50 },
    printLog: (line) => void log.push(line),
  });
  if (!started.ok) throw new Error(started.refusal.message);
  onTestFinished(() => started.value.stop(2_000));
  const admin = callWith(started.value.url, ADMIN_KEY);
  return {
    ...admin,
    log,
    async addTenant(name) {
      const { id } = await admin.call("POST", "/v1/tenants", { name });
      const { key } = await admin.call("POST", "/v1/keys", { tenant: String(id), role: "admin" });
      return callWith(started.value.url, String(key));
    },
  };
}

function callWith(url: string, key: string): Caller {
  const call: Caller["call"] = async (method, path, body) => {
    const sent = Buffer.isBuffer(body) ? new Uint8Array(body) : body && JSON.stringify(body);
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${url}${path}`, { method, headers, ...(sent && { body: sent }) });
    const text = await response.text();
    return path === "/metrics" ? { text } : (JSON.parse(text) as JsonObject);
  };
  return {
    call,
    async finish(wish) {
      const ordered = await call("POST", "/v1/runs", { skill: "build", message: "Go.", ...wish });
      if (ordered.error !== undefined) return ordered;
      for (;;) {
        const run = await call("GET", `/v1/runs/${ordered.id}`);
        if (!["queued", "running", "waiting"].includes(String(run.status))) return run;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

async function addProvider(call: Caller["call"], port: number): Promise<JsonObject> {
  await call("PUT", "/v1/secrets/ACME_KEY", { value: KEY });
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const body = { kind: "openai-compatible", baseUrl, secret: "ACME_KEY", models: ["small"] };
  return call("PUT", "/v1/providers/acme", body);
}

test("a run is answered by its tenant's provider with its tenant's key, and is counted", async () => {
  const provider = await startStreaming(() => ({ pieces: [`By acme, who has ${KEY}.`] }));
  const { call, finish, log } = await openLocal({ METIER_PRIVATE_HOSTS: `127.0.0.1:${provider.port}` });
  expect(await addProvider(call, provider.port)).toMatchObject({ name: "acme" });
  await call("POST", "/v1/agents", { name: "clerk", instructions: "Work.", model: "acme/small" });
  const run = await finish({ agent: "clerk" });
  expect(run).toMatchObject({ status: "completed", model: "acme/small" });
  expect(run.text).toContain("By acme");
  expect(provider.keys).toEqual([`Bearer ${KEY}`]);
  expect(JSON.stringify([run, log])).not.toContain(KEY);
  expect(await finish({})).toMatchObject({ text: "By the machine." });
  const { text } = await call("GET", "/metrics");
  expect(text).toContain('metier_step_seconds_count{kind="model"} 2');
  expect(text).toMatch(/metier_tokens_total\{direction="input"\} [1-9]/);
});

test("another tenant has no model until it brings one or is given the machine's, and never another's", async () => {
  const provider = await startStreaming(() => ({ pieces: ["By acme."] }));
  const service = await openLocal({ METIER_PRIVATE_HOSTS: `127.0.0.1:${provider.port}` });
  await addProvider(service.call, provider.port);
  const acme = await service.addTenant("acme");
  const content = "---\nname: poet\ndescription: Writes.\n---\nWrite.\n";
  await acme.call("POST", "/v1/skills", gzipSync(tarOf({ name: "poet/SKILL.md", content })));
  expect(await acme.finish({ skill: "poet" })).toMatchObject({ error: { code: "no_model" } });
  await service.call("PUT", "/v1/tenants/acme/models", { usesHomeModels: true });
  expect(await acme.finish({ skill: "poet" })).toMatchObject({ text: "By the machine." });
  await service.call("PUT", "/v1/tenants/acme/models", { usesHomeModels: false });
  await acme.call("PUT", "/v1/secrets/OWN_KEY", { value: "sk-own" });
  const own = {
    kind: "openai-compatible",
    baseUrl: `http://127.0.0.1:${provider.port}/v1`,
    secret: "OWN_KEY",
  };
  await acme.call("PUT", "/v1/providers/mine", { ...own, models: ["m"] });
  expect(await acme.finish({ skill: "poet" })).toMatchObject({ text: "By acme.", model: "mine/m" });
  expect(provider.keys).toEqual(["Bearer sk-own"]);
  for (const model of ["acme/small", "default", "given", "replay:/etc/passwd"]) {
    const agent = `a-${model.replace(/\W/g, "-")}`;
    await acme.call("POST", "/v1/agents", { name: agent, instructions: "Work.", model });
    const run = await acme.finish({ skill: "poet", agent });
    if (model === "default") expect(run.model).toBe("mine/m");
    else expect([model, run.status, run.text]).toEqual([model, "failed", ""]);
  }
  expect(provider.keys).not.toContain(`Bearer ${KEY}`);
});

test("a run may use what is left of its tenant's day, and is stopped there", async () => {
  const { call, finish } = await openLocal({}, [bash("true"), says("Never said.")]);
  await call("PUT", "/v1/tenants/default/quotas", { tokensPerDay: 12 });
  expect(await finish({ approve: "allow" })).toMatchObject({ status: "limited", limit: "tokens" });
  expect(await finish({})).toMatchObject({ error: { code: "quota_tokens_per_day" } });
});

test("an address on this machine that nobody listed is refused, and never asked", async () => {
  const provider = await startStreaming(() => ({ pieces: ["Never said."] }));
  const { call } = await openLocal({});
  const refused = await addProvider(call, provider.port);
  expect(refused).toMatchObject({ error: { code: "address_refused" } });
  expect(provider.requests).toEqual([]);
});

test("a redirect of a provider is not followed, and its key goes nowhere else", async () => {
  const inner = await startStreaming(() => ({ pieces: ["Never said."] }));
  const { startSite } = await import("../../../test/support/loopback-site.ts");
  const site = await startSite((_, response) => {
    response.writeHead(308, { location: `http://127.0.0.1:${inner.port}/v1/chat/completions` }).end();
  });
  const { call, finish } = await openLocal({ METIER_PRIVATE_HOSTS: `127.0.0.1:${site.port}` });
  await addProvider(call, site.port);
  await call("POST", "/v1/agents", { name: "clerk", instructions: "Work.", model: "acme/small" });
  const run = await finish({ agent: "clerk" });
  expect(run.status).toBe("failed");
  expect(JSON.stringify(run.error)).toContain("redirects, which is not followed");
  expect([site.requests.length, inner.requests]).toEqual([1, []]);
});

test("a start with a METIER_PRIVATE_HOSTS that cannot be read is refused", async () => {
  const world = createRunWorld({});
  const environment = { PATH: process.env.PATH, METIER_PRIVATE_HOSTS: "*" };
  expect(await startLocalService({ home: world.home, environment })).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining("METIER_PRIVATE_HOSTS") },
  });
});
