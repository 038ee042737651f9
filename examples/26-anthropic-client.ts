/**
 * Anthropic's own SDK as a client of `metier serve`: only its base URL and its key change. A session with an agent waits for a
 * person to confirm a tool call, then goes on. The provider behind the service plays a script.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { LLMock } from "@copilotkit/aimock";

const provider = new LLMock({ port: 0, logLevel: "silent" });
provider.addFixtures([
  { match: { hasToolResult: true }, response: { content: "The note is written." } },
  { match: {}, response: { toolCalls: [{ name: "bash", arguments: '{"command":"echo hi > note.txt"}' }] } },
]);
await provider.start();
mkdirSync("service/.metier", { recursive: true });
const model = `provider = "openai-compatible"\nmodel = "m"\nbase-url = "${provider.url}/v1"\n`;
writeFileSync("service/.metier/config.toml", `[models.default]\n${model}`);

const apiKey = "the-admin-key-of-this-example";
const command = "node_modules/metier/bin/metier.js serve --home service --port 0".split(" ");
const env = { ...process.env, METIER_ADMIN_KEY: apiKey };
const server = spawn(process.execPath, command, { env, stdio: ["ignore", "ignore", "pipe"] });
const [started] = await once(server.stderr, "data");
const [url] = /http:\/\/[\d.:]+\d/.exec(String(started)) ?? [];

try {
  const client = new Anthropic({ baseURL: `${url}/anthropic`, apiKey });
  const { agents, sessions } = client.beta;
  const tools = [{ type: "agent_toolset_20260401" as const }];
  const agent = await agents.create({ name: "Note taker", model: "default", system: "Take notes.", tools });
  const session = await sessions.create({ agent: agent.id, environment_id: "env_metier" });

  const stream = await sessions.events.stream(session.id);
  const content = [{ type: "text" as const, text: "Note that I said hi." }];
  await sessions.events.send(session.id, { events: [{ type: "user.message", content }] });
  const said: string[] = [];
  for await (const event of stream) {
    if (event.type === "agent.tool_use") console.log("wants to call", event.name, event.input);
    if (event.type === "agent.message") said.push(JSON.stringify(event.content));
    if (event.type !== "session.status_idle") continue;
    if (event.stop_reason.type !== "requires_action") break;
    for (const tool_use_id of event.stop_reason.event_ids) {
      const answer = { type: "user.tool_confirmation" as const, tool_use_id, result: "allow" as const };
      await sessions.events.send(session.id, { events: [answer] });
    }
  }
  console.log(said);
  assert.match(said.join(), /The note is written/);
} finally {
  server.kill();
  await once(server, "exit");
  await provider.stop();
}
