/**
 * `HttpAgent` of AG-UI against `metier serve`: the run ends with an interrupt, and the next one answers it. The provider behind the
 * service plays a script.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { HttpAgent, type Interrupt } from "@ag-ui/client";
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
  const agent = new HttpAgent({ url: `${url}/ag-ui/skills/notes`, headers });
  agent.messages.push({ id: "1", role: "user", content: "Note that I said hi." });
  const asked: Interrupt[] = [];
  await agent.runAgent(
    {},
    {
      onRunFinishedEvent(params) {
        if (params.outcome === "interrupt") asked.push(...params.interrupts);
      },
    },
  );
  console.log(asked);
  assert.equal(asked.length, 1);
  const resume = asked.map(({ id: interruptId }) => {
    return { interruptId, status: "resolved" as const, payload: { approved: true } };
  });
  const { result } = await agent.runAgent({ resume });
  console.log(result);
  assert.match(JSON.stringify(result), /The note is written/);
} finally {
  server.kill();
  await once(server, "exit");
  await provider.stop();
}
