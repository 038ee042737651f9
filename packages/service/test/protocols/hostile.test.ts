/** What nobody's client sends: the protocols refuse it like the API, tell nothing of the server, and keep no stream open. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { openService, type TestService } from "../support/open-service.ts";

const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };
const MCP_HEADERS = {
  ...HEADERS,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

async function openSession({ call }: TestService): Promise<string> {
  await call("POST", "/v1/agents", { body: { name: "writer", instructions: "Write." } });
  return String((await call("POST", "/v1/sessions", { body: { agent: "writer" } })).body.id);
}

function callA2a({ call }: TestService, method: string, params: JsonObject) {
  return call("POST", "/a2a", { body: { jsonrpc: "2.0", id: 1, method, params } });
}

/** A conversation of MCP, by hand: what a client that breaks off leaves behind. */
async function openMcp({ url }: TestService, key = ADMIN_KEY) {
  const usual = { ...MCP_HEADERS, authorization: `Bearer ${key}` };
  const send = (message: JsonObject, more: Readonly<Record<string, string>> = {}, signal?: AbortSignal) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: { ...usual, ...more },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
      ...(signal && { signal }),
    });
  const protocolVersion = "2025-11-25";
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } };
  const opened = await send({ id: 0, method: "initialize", params });
  await opened.text();
  const session = {
    "mcp-session-id": opened.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": protocolVersion,
  };
  await (await send({ method: "notifications/initialized" }, session)).text();
  return {
    callTool: (name: string, input: JsonObject, signal?: AbortSignal) =>
      send({ id: 1, method: "tools/call", params: { name, arguments: input } }, session, signal),
    listen: () => fetch(`${url}/mcp`, { headers: { ...usual, ...session } }),
  };
}

test("what every object has is no kind of event, tool or method", async () => {
  const service = await openService();
  const session = await openSession(service);
  for (const name of ["constructor", "toString", "__proto__", "hasOwnProperty"]) {
    const events = [{ type: name, content: "x" }];
    const sent = await service.call("POST", `/anthropic/v1/sessions/${session}/events`, { body: { events } });
    const tools = [{ type: "agent_toolset_20260401", configs: [{ name }] }];
    const body = { name: "x", model: "default", tools };
    const made = await service.call("POST", "/anthropic/v1/agents", { body });
    const called = await callA2a(service, name, {});
    expect([name, sent.status, made.status, called.status]).toEqual([name, 400, 400, 404]);
  }
});

test("a small body cannot ask for very many looks into the store, nor get itself back", async () => {
  const service = await openService();
  const session = await openSession(service);
  const events = Array.from({ length: 101 }, () => ({ type: "user.interrupt" }));
  const sent = await service.call("POST", `/anthropic/v1/sessions/${session}/events`, { body: { events } });
  expect([sent.status, sent.text]).toEqual([400, expect.stringContaining("at most 100")]);
  const run = await service.start("approve bash");
  await service.settle(run, "waiting");
  const parts = Array.from({ length: 201 }, () => ({ text: "yes" }));
  const answered = await callA2a(service, "SendMessage", { message: { messageId: "m", taskId: run, parts } });
  expect([answered.status, answered.text]).toEqual([400, expect.stringContaining("at most 200")]);
  expect((await service.call("GET", `/v1/runs/${run}`)).body.status).toBe("waiting");
  const long = "x".repeat(100_000);
  const missing = await callA2a(service, "GetTask", { id: long });
  const metadata = { skill: long };
  const unknown = await callA2a(service, "SendMessage", {
    message: { messageId: "m", parts: [{ text: "x" }], metadata },
  });
  expect([missing.status, unknown.status]).toEqual([404, 400]);
  expect(missing.text.length + unknown.text.length).toBeLessThan(2_000);
});

test("files of a form stay inside of the skill, and a page starts behind something that is there", async () => {
  const service = await openService();
  const upload = async (prefix: string, ...names: readonly string[]) => {
    const form = new FormData();
    for (const name of names)
      form.append("files[]", new File([skillText("name: poet\ndescription: Rhymes.")], name));
    const response = await fetch(`${service.url}${prefix}/v1/skills`, {
      method: "POST",
      headers: HEADERS,
      body: form,
    });
    return [response.status, await response.text()] as const;
  };
  const outside = ["../../evil.txt", "/etc/evil.txt", "poet/../../evil.txt", `poet/${"x".repeat(5_000)}`];
  for (const prefix of ["/anthropic", "/openai"]) {
    for (const name of [...outside, "poet/SKILL.md", "poet/SKILL.md/x", "poet/\u0000"]) {
      const [status, text] = await upload(prefix, "poet/SKILL.md", name);
      expect([name, status]).toEqual([name, 400]);
      expect(text).not.toContain(service.folder);
    }
    expect((await upload(prefix, "poet/SKILL.md"))[0]).toBe(200);
  }
  for (const query of ["/anthropic/v1/skills?page=gone", "/openai/v1/skills/poet/versions?after=gone"])
    expect(await service.call("GET", query)).toMatchObject({
      status: 400,
      text: expect.stringContaining("gone"),
    });
});

test("no protocol tells where the server keeps things", async () => {
  const service = await openService({ hiddenFolders: [["/srv/metier-home", "home"]] });
  const session = await openSession(service);
  const { call } = service;
  const seen: string[] = [];
  const say = { body: { events: [{ type: "user.message", content: "leak" }] } };
  await call("POST", `/anthropic/v1/sessions/${session}/events`, say);
  const [said] = (await call("GET", `/v1/sessions/${session}/messages`)).body.data ?? [];
  await service.settle(String(said?.run), "completed");
  seen.push((await call("GET", `/anthropic/v1/sessions/${session}/events`)).text);
  seen.push(
    (await call("POST", "/openai/v1/responses", { body: { model: "skill/greet", input: "leak" } })).text,
  );
  const message = { messageId: "m", parts: [{ text: "leak" }], metadata: { skill: "greet" } };
  seen.push((await callA2a(service, "SendStreamingMessage", { message })).text);
  const messages = [{ id: "1", role: "user", content: "leak" }];
  seen.push(
    (await call("POST", "/ag-ui/skills/greet", { body: { threadId: "t", runId: "r", messages } })).text,
  );
  const chat = { id: "c", messages: [{ role: "user", parts: [{ type: "text", text: "leak" }] }] };
  seen.push((await call("POST", "/ai-sdk/skills/greet", { body: chat })).text);
  for (const text of seen) {
    expect(text).not.toContain("/srv/");
    expect(text).not.toContain(service.folder);
  }
  expect(seen.join("\n").match(/wrote \.\/notes\.txt/g)?.length).toBeGreaterThan(0);
});

test("a first message that a quota refuses leaves no session behind, and the log says so", async () => {
  const service = await openService();
  const { call } = service;
  const agent = (await call("POST", "/anthropic/v1/agents", { body: { name: "writer", model: "default" } }))
    .body;
  expect((await call("PUT", "/v1/tenants/default/quotas", { body: { openRuns: 0 } })).status).toBe(200);
  const message = { messageId: "m", parts: [{ text: "say 1" }], metadata: { skill: "greet" } };
  const events = [{ type: "user.message", content: [{ type: "text", text: "say 1" }] }];
  const opening = { agent: String(agent.id), environment_id: "env_metier", initial_events: events };
  const refused = [
    await call("POST", "/openai/v1/responses", { body: { model: "skill/greet", input: "say 1" } }),
    await callA2a(service, "SendMessage", { message }),
    await call("POST", "/anthropic/v1/sessions", { body: opening }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
  expect((await call("GET", "/v1/sessions")).body.data).toEqual([]);
  const { body } = await call("GET", "/v1/audit?limit=100");
  const told = body.data
    ?.map(({ action }) => String(action))
    .filter((action) => action.startsWith("session"));
  expect(told).toEqual(Array.from({ length: 3 }, () => ["session.created", "session.removed"]).flat());
});

/** Waits until the service counts so many open streams. */
async function untilOpen({ call }: TestService, count: number): Promise<void> {
  const line = `metier_event_streams ${count}\n`;
  while (!(await call("GET", "/metrics")).text.includes(line))
    await new Promise((resolve) => setTimeout(resolve, 10));
}

test("a key without room for another stream starts nothing, and calls that break off leave none open", async () => {
  const service = await openService({ limits: { streamsPerKey: 1 } });
  const waiting = await service.start("wait");
  await service.settle(waiting, "waiting");
  const { callTool } = await openMcp(service);
  await untilOpen(service, 0);
  const listening = await fetch(`${service.url}/v1/runs/${waiting}/events`, { headers: HEADERS });
  expect((await callTool("run_skill", { skill: "greet", message: "say 1" })).status).toBe(429);
  const message = { messageId: "m", parts: [{ text: "say 1" }], metadata: { skill: "greet" } };
  const messages = [{ id: "1", role: "user", content: "say 1", parts: [{ type: "text", text: "say 1" }] }];
  const refused = await Promise.all([
    service.call("POST", "/openai/v1/responses", { body: { model: "skill/greet", input: "say 1" } }),
    callA2a(service, "SendMessage", { message }),
    callA2a(service, "SendStreamingMessage", { message }),
    service.call("POST", "/ag-ui/skills/greet", { body: { threadId: "t", runId: "r", messages } }),
    service.call("POST", "/ai-sdk/skills/greet", { body: { id: "c", messages } }),
  ]);
  expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
  expect((await service.call("GET", "/v1/runs")).body.data).toHaveLength(1);
  await listening.body?.cancel();
  for (const _ of [1, 2, 3]) {
    await untilOpen(service, 0);
    const leaving = new AbortController();
    const called = callTool("follow_run", { run: waiting }, leaving.signal).then((response) =>
      response.text(),
    );
    await untilOpen(service, 1);
    leaving.abort();
    await expect(called).rejects.toThrow();
  }
  await untilOpen(service, 0);
});

test("a request that waits ends with its key, and is told nothing more", async () => {
  const service = await openService({ times: { heartbeatMs: 20, sweepMs: 50 } });
  const made = await service.call("POST", "/v1/keys", { body: { name: "x", scopes: ["read", "run"] } });
  const key = String(made.body.key);
  const body = { model: "skill/greet", input: "wait" };
  const message = { messageId: "m", parts: [{ text: "wait" }], metadata: { skill: "greet" } };
  const rpc = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
  const waiting = [
    service.call("POST", "/openai/v1/responses", { body, key }),
    service.call("POST", "/a2a", { body: rpc, key }),
  ];
  const { listen } = await openMcp(service, key);
  const quiet = await listen();
  await untilOpen(service, 3);
  await service.call("DELETE", `/v1/keys/${made.body.id}`);
  const answers = await Promise.all(waiting);
  expect(answers.map(({ status, text }) => [status, text.includes("stopped working")])).toEqual([
    [401, true],
    [401, true],
  ]);
  expect([quiet.status, await quiet.text()]).toEqual([200, expect.any(String)]);
  await untilOpen(service, 0);
});
