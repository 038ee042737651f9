/** What a protocol declares is what it does: a field it cannot honor, or another conversation's id, is refused. */
import type { Json, JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../../../../test/support/follow-events.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { openService, type TestService } from "../support/open-service.ts";

const HEADERS = { authorization: `Bearer ${ADMIN_KEY}` };

function listTasks({ call }: TestService, params: JsonObject) {
  return call("POST", "/a2a", { body: { jsonrpc: "2.0", id: 1, method: "ListTasks", params } });
}

function respond({ call }: TestService, body: JsonObject) {
  return call("POST", "/openai/v1/responses", { body });
}

test("a model cannot approve its own calls through MCP, whatever its key may", async () => {
  const { url, call } = await openService();
  const send = (message: JsonObject, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        ...HEADERS,
        ...more,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1.0.0" },
  };
  const opened = await send({ id: 0, method: "initialize", params });
  await opened.text();
  const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
  const wrong = [
    ["run_skill", { skill: "greet", message: "approve bash", approve: "allow" }, "approve"],
    ["run_skill", { skill: "greet", message: "say 1", priority: 10 }, "priority"],
    ["list_runs", { limit: 101 }, "limit"],
    ["list_runs", { tenant: "other" }, "tenant"],
  ] as const;
  for (const [name, input, named] of wrong) {
    const asked = await send(
      { id: 1, method: "tools/call", params: { name, arguments: { ...input } } },
      session,
    );
    expect(await asked.text()).toMatch(new RegExp(`isError":true.*|.*${named}.*isError":true`));
  }
  expect((await call("GET", "/v1/runs")).body.data).toEqual([]);
});

test("an update of Anthropic's client changes only what it names, and clears what it empties", async () => {
  const { call } = await openService();
  await call("POST", "/v1/agents", {
    body: { name: "plain", instructions: "Do.", limits: { "max-iterations": 5 } },
  });
  const update = (body: JsonObject) => call("POST", "/anthropic/v1/agents/plain", { body });
  const read = async () => (await call("GET", "/v1/agents/plain")).body.definition;
  const before = (await read()) as JsonObject;
  expect(Object.keys(before)).toEqual(["instructions", "limits"]);
  expect((await update({ version: 1, description: "Plain." })).status).toBe(200);
  expect(await read()).toEqual({ ...before, description: "Plain." });
  expect((await update({ system: null, description: null, tools: [] })).status).toBe(200);
  expect(await read()).toMatchObject({
    instructions: 'You are the agent "plain".',
    tools: expect.arrayContaining(["use_skill", "ask_user"]),
  });
  expect(await read()).not.toHaveProperty("description");
});

test("an answer reaches only what its own conversation asked", async () => {
  const service = await openService();
  const { call } = service;
  const talk = (threadId: string, text: string, more: JsonObject = {}) => {
    const messages = [{ id: `${threadId}-1`, role: "user", content: text }];
    return call("POST", "/ag-ui/skills/greet", { body: { threadId, runId: "r", messages, ...more } });
  };
  await talk("one", "approve bash");
  await talk("two", "approve bash");
  const pending = async () => (await call("GET", "/v1/approvals")).body.data ?? [];
  const [first] = await pending();
  const id = String(first?.id);
  const resume = [{ interruptId: id, status: "resolved", payload: { approved: true } }];
  const runs = (await call("GET", "/v1/runs")).body.data ?? [];
  const isFirst = runs.find((run) => run.id === first?.run)?.id === runs.at(-1)?.id;
  const [own, other] = isFirst ? ["one", "two"] : ["two", "one"];
  expect((await talk(other, "approve bash", { resume })).status).toBe(404);
  const part = {
    type: "tool-bash",
    toolCallId: "c",
    state: "approval-responded",
    input: {},
    approval: { id, approved: true },
  };
  const chat = {
    id: "three",
    messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "approve bash" }] }],
  };
  await call("POST", "/ai-sdk/skills/greet", { body: chat });
  const answered = [...chat.messages, { id: "2", role: "assistant", parts: [part] }];
  expect(
    (await call("POST", "/ai-sdk/skills/greet", { body: { id: "three", messages: answered } })).status,
  ).toBe(404);
  expect((await pending()).map((approval) => approval.id)).toContain(id);
  expect((await talk(own, "approve bash", { resume })).status).toBe(200);
});

test("a conversation of OpenAI's client keeps its model, and goes on at its end", async () => {
  const service = await openService();
  const first = (await respond(service, { model: "skill/greet", input: "say 1" })).body;
  const again = (model: string, previous: string) =>
    respond(service, { model, input: "say 1", previous_response_id: previous });
  const id = String(first.id);
  expect(await again("skill/other", id)).toMatchObject({
    status: 400,
    text: expect.stringContaining("skill/greet"),
  });
  expect((await again("skill/greet", id.replace(/_\d+$/, "_9"))).status).not.toBe(200);
  expect((await again("skill/greet", id)).status).toBe(200);
  expect((await again("skill/greet", id)).status).toBe(400);
});

test("a list of tasks refuses what it cannot do, and lists waiting ones as those that need input", async () => {
  const service = await openService();
  const message = { messageId: "m", parts: [{ text: "approve bash" }], metadata: { skill: "greet" } };
  const body = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } };
  const sent = (await service.call("POST", "/a2a", { body })).body.result as JsonObject;
  const { contextId } = sent.task as JsonObject & { contextId: string };
  for (const wrong of [
    { contextId, pageToken: "gone" },
    { pageSize: "abc" },
    { pageSize: 1.5 },
    { statusTimestampAfter: "2099-01-01T00:00:00Z" },
  ])
    expect([wrong, (await listTasks(service, wrong)).status]).toEqual([wrong, 400]);
  const count = async (status: string) => {
    const { result } = (await listTasks(service, { status })).body as { result?: { tasks: readonly Json[] } };
    return result?.tasks.length;
  };
  expect([await count("TASK_STATE_WORKING"), await count("TASK_STATE_INPUT_REQUIRED")]).toEqual([0, 1]);
});

test("an upload with two folders, or a field that is not honored, is refused", async () => {
  const { url } = await openService();
  const upload = async (path: string, names: readonly string[], field?: string) => {
    const form = new FormData();
    for (const name of names)
      form.append("files[]", new File([skillText("name: poet\ndescription: Rhymes.")], name));
    if (field) form.append(field, "true");
    return (await fetch(`${url}${path}`, { method: "POST", headers: HEADERS, body: form })).status;
  };
  for (const prefix of ["/anthropic", "/openai"]) {
    const skills = `${prefix}/v1/skills`;
    expect(await upload(skills, ["poet/SKILL.md", "other/x.md"])).toBe(400);
    expect(await upload(skills, ["poet/SKILL.md"], "default")).toBe(400);
    expect(await upload(skills, ["poet/SKILL.md", "poet/notes/x.md"])).toBe(200);
    expect(await upload(`${skills}/poet/versions`, ["poet/SKILL.md"], "default")).toBe(400);
  }
});
