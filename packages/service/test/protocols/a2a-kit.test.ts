/** What A2A's Technology Compatibility Kit asks for (`npm run a2a-tck`), by the ids of its requirements. */
import type { JsonObject } from "@metier/base/json";
import { expect, test } from "vitest";
import { ADMIN_KEY, type ClientWorld, openClientWorld, SAID } from "../support/client-world.ts";

const AUTHORIZATION = { authorization: `Bearer ${ADMIN_KEY}` };
const JSON_TYPE = { "content-type": "application/json" };

type Place = Pick<ClientWorld, "url"> & { readonly path?: string };

function post(
  { url, path = "/a2a/skills/greet" }: Place,
  body: string,
  headers = JSON_TYPE,
): Promise<Response> {
  return fetch(`${url}${path}`, { method: "POST", body, headers: { ...AUTHORIZATION, ...headers } });
}

function request(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
}

async function call(place: Place, method: string, params: JsonObject): Promise<JsonObject> {
  const answer = (await (await post(place, request(method, params))).json()) as JsonObject;
  return (answer.result ?? answer.error) as JsonObject;
}

async function send(place: Place, text: string, more: JsonObject = {}): Promise<JsonObject> {
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text }], ...more };
  return (await call(place, "SendMessage", { message })).task as JsonObject;
}

function statesIn(frames: string): readonly unknown[] {
  const results = [...frames.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data).result);
  return results.flatMap(({ task, statusUpdate }) => (task ?? statusUpdate)?.status?.state ?? []);
}

test("a skill has its own card, and messages to its address need no metadata, with and without a slash", async () => {
  const { url } = await openClientWorld();
  const at = `${url}/a2a/skills/greet`;
  const card = await fetch(`${at}/.well-known/agent-card.json`, { headers: AUTHORIZATION });
  expect(await card.json()).toMatchObject({
    name: "greet",
    supportedInterfaces: [{ url: at, protocolBinding: "JSONRPC" }],
    skills: [{ id: "greet" }],
  });
  for (const path of ["/a2a/skills/greet", "/a2a/skills/greet/"]) {
    const { status, artifacts } = await send({ url, path }, "hello");
    expect(status).toMatchObject({ state: "TASK_STATE_COMPLETED" });
    expect(artifacts).toMatchObject([{ parts: [{ text: SAID }] }]);
  }
  const missing = await fetch(`${url}/a2a/skills/nothing/.well-known/agent-card.json`, {
    headers: AUTHORIZATION,
  });
  expect(missing.status).toBe(404);
});

test("CARD-CACHE-001 and 002: clients may keep a card for a while, and ask whether it has changed", async () => {
  const { url } = await openClientWorld();
  const at = `${url}/a2a/.well-known/agent-card.json`;
  const { headers } = await fetch(at, { headers: AUTHORIZATION });
  expect(headers.get("cache-control")).toMatch(/^private, max-age=\d+$/);
  const known = { "if-none-match": headers.get("etag") ?? "" };
  expect((await fetch(at, { headers: { ...AUTHORIZATION, ...known } })).status).toBe(304);
});

test.each([
  ["JSONRPC-ERR: a body that is not JSON", "{", JSON_TYPE, -32_700],
  ["JSONRPC-ERR: JSON that is no request", "[]", JSON_TYPE, -32_600],
  ["JSONRPC-SSE-002: text of another type", "hello", { "content-type": "text/plain" }, -32_005],
  ["JSONRPC-ERR: an unknown method", request("Nothing", {}), JSON_TYPE, -32_601],
])("%s has its own code", async (_, body, headers, code) => {
  const world = await openClientWorld();
  expect(await (await post(world, body, headers)).json()).toMatchObject({ jsonrpc: "2.0", error: { code } });
});

test("JSONRPC-ERR-003: errors of A2A carry its domain and its reason, others ours", async () => {
  const world = await openClientWorld();
  const missing = await call(world, "GetTask", { id: "nothing" });
  expect(missing.data).toMatchObject([{ domain: "a2a-protocol.org", reason: "TASK_NOT_FOUND" }]);
  expect((await call(world, "GetTask", {})).data).toMatchObject([{ domain: "metier" }]);
});

test("CORE-LIST: tasks are listed by context in pages, counted, and without artifacts unless asked for", async () => {
  const world = await openClientWorld();
  const first = await send(world, "hello");
  const contextId = String(first.contextId);
  const second = await send(world, "hello", { contextId });
  await send(world, "hello");
  const page = await call(world, "ListTasks", { contextId, pageSize: 1 });
  expect(page).toMatchObject({ tasks: [{ id: second.id }], pageSize: 1, totalSize: 2 });
  expect(JSON.stringify(page)).not.toContain("artifacts");
  const pageToken = page.nextPageToken as string;
  const rest = await call(world, "ListTasks", { contextId, pageSize: 1, pageToken, includeArtifacts: true });
  expect(rest).toMatchObject({ tasks: [{ id: first.id, artifacts: [{}] }], nextPageToken: "" });
  const status = "TASK_STATE_COMPLETED";
  expect(await call(world, "ListTasks", { status })).toMatchObject({ totalSize: 3, nextPageToken: "" });
  expect(await call(world, "ListTasks", { contextId: "nothing" })).toMatchObject({ tasks: [], totalSize: 0 });
  expect(await call(world, "ListTasks", { pageSize: 101 })).toMatchObject({ code: -32_602 });
});

test("STREAM-SUB-002, STREAM-ORDER-003: subscribers see the same events, past a question, until the task has ended", async () => {
  const world = await openClientWorld();
  const { id: taskId = "" } = await send(world, "ask me");
  const subscribe = () => post(world, request("SubscribeToTask", { id: taskId }));
  const streams = await Promise.all([subscribe(), subscribe()]);
  await send(world, "blue", { taskId });
  const [one = "", other = ""] = await Promise.all(streams.map((stream) => stream.text()));
  expect(statesIn(one)).toEqual(statesIn(other));
  expect(statesIn(one).at(0)).toBe("TASK_STATE_INPUT_REQUIRED");
  expect(statesIn(one).at(-1)).toBe("TASK_STATE_COMPLETED");
});
