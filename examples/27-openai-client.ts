/**
 * OpenAI's own SDK as a client of `metier serve`: only its base URL and its key change, and the model is a skill. A response
 * asks for an approval, the next one carries the answer. The provider behind the service plays a script.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";

const provider = new LLMock({ port: 0, logLevel: "silent" });
provider.addFixtures([
  { match: { hasToolResult: true }, response: { content: "The note is written." } },
  { match: {}, response: { toolCalls: [{ name: "bash", arguments: '{"command":"echo hi > note.txt"}' }] } },
]);
await provider.start();
mkdirSync("service/.metier/skills/notes", { recursive: true });
const model = `provider = "openai-compatible"\nmodel = "m"\nbase-url = "${provider.url}/v1"\n`;
writeFileSync("service/.metier/config.toml", `[models.default]\n${model}`);
const skill = "---\nname: notes\ndescription: Takes notes.\n---\nWrite what you are told to a file.\n";
writeFileSync("service/.metier/skills/notes/SKILL.md", skill);

const apiKey = "the-admin-key-of-this-example";
const command = "node_modules/metier/bin/metier.js serve --home service --port 0".split(" ");
const env = { ...process.env, METIER_ADMIN_KEY: apiKey };
const server = spawn(process.execPath, command, { env, stdio: ["ignore", "ignore", "pipe"] });
const [started] = await once(server.stderr, "data");
const [url] = /http:\/\/[\d.:]+\d/.exec(String(started)) ?? [];

try {
  const client = new OpenAI({ baseURL: `${url}/openai/v1`, apiKey });
  const first = await client.responses.create({ model: "skill/notes", input: "Note that I said hi." });
  const input = first.output.flatMap((item) => {
    if (item.type !== "mcp_approval_request") return [];
    console.log("wants to call", item.name, item.arguments);
    return [{ type: "mcp_approval_response" as const, approval_request_id: item.id, approve: true }];
  });
  assert.equal(input.length, 1);

  const stream = client.responses.stream({ model: "skill/notes", previous_response_id: first.id, input });
  stream.on("response.output_text.delta", ({ delta }) => console.log(delta));
  const { status, output_text } = await stream.finalResponse();
  assert.deepEqual([status, output_text], ["completed", "The note is written."]);
} finally {
  server.kill();
  await once(server, "exit");
  await provider.stop();
}
