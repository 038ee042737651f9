/**
 * The client of the A2A SDK against `metier serve`: a task needs input, gets it, and completes. The provider behind the service
 * plays a script.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { type Part, Role, TaskState } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { LLMock } from "@copilotkit/aimock";

const provider = new LLMock({ port: 0, logLevel: "silent" });
provider.addFixtures([
  { match: { hasToolResult: true }, response: { content: "The note is written." } },
  { match: {}, response: { toolCalls: [{ name: "bash", arguments: '{"command":"echo hi > note.txt"}' }] } },
]);
await provider.start();
mkdirSync("service/.metier/skills/notes", { recursive: true });
const model = `provider = "openai-compatible"\nmodel = "m"\nbase-url = "${provider.url}/v1"\n`;
writeFileSync("service/.metier/config.toml", `[models.default]\n${model}`);
const skill = "---\nname: notes\ndescription: Takes notes.\n---\nTake notes.\n";
writeFileSync("service/.metier/skills/notes/SKILL.md", skill);

const key = "the-admin-key-of-this-example";
const command = "node_modules/metier/bin/metier.js serve --home service --port 0".split(" ");
const env = { ...process.env, METIER_ADMIN_KEY: key };
const server = spawn(process.execPath, command, { env, stdio: ["ignore", "ignore", "pipe"] });
const [started] = await once(server.stderr, "data");
const [url] = /http:\/\/[\d.:]+\d/.exec(String(started)) ?? [];
const headers = { Authorization: `Bearer ${key}` };

try {
  const fetchImpl: typeof fetch = (to, init) =>
    fetch(to, { ...init, headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers } });
  const cardResolver = new DefaultAgentCardResolver({ fetchImpl });
  const transports = [new JsonRpcTransportFactory({ fetchImpl })];
  const client = await new ClientFactory({ cardResolver, transports }).createFromUrl(`${url}/a2a/`);
  const send = async (content: Part["content"], taskId = "") => {
    const parts = [{ content, metadata: undefined, filename: "", mediaType: "" }];
    const own = { messageId: crypto.randomUUID(), contextId: "", taskId, role: Role.ROLE_USER, parts };
    const message = { ...own, metadata: { skill: "notes" }, extensions: [], referenceTaskIds: [] };
    const sent = { tenant: "", message, configuration: undefined, metadata: undefined };
    const answer = await client.sendMessage(sent);
    assert.ok("status" in answer);
    return answer;
  };
  const asked = await send({ $case: "text", value: "Note that I said hi." });
  console.log(JSON.stringify(asked.status?.message?.parts));
  assert.equal(asked.status?.state, TaskState.TASK_STATE_INPUT_REQUIRED);
  const done = await send({ $case: "data", value: { approved: true } }, asked.id);
  assert.match(JSON.stringify(done.artifacts), /The note is written/);
} finally {
  server.kill();
  await once(server, "exit");
  await provider.stop();
}
