/**
 * The official MCP client against `metier serve`: a run as a tool call. What the run asks a person, the client asks its person. The
 * provider behind the service plays a script.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { LLMock } from "@copilotkit/aimock";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

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
  const client = new Client({ name: "notes", version: "1.0.0" }, { capabilities: { elicitation: {} } });
  client.setRequestHandler("elicitation/create", ({ params }) => {
    console.log(params.message);
    return { action: "accept", content: { approve: true } };
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  const { structuredContent } = await client.callTool(
    { name: "run_skill", arguments: { skill: "notes", message: "Note that I said hi." } },
    { onprogress: ({ message }) => console.log(message) },
  );
  console.log(structuredContent);
  assert.match(JSON.stringify(structuredContent), /The note is written/);
  await client.close();
} finally {
  server.kill();
  await once(server, "exit");
  await provider.stop();
}
