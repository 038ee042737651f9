/**
 * The AI SDK's chat transport, as `useChat` uses it, against `metier serve`: the message stops for an approval, and goes on after
 * the answer. The provider behind the service plays a script.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { LLMock } from "@copilotkit/aimock";
import { DefaultChatTransport, readUIMessageStream, type UIMessage } from "ai";

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
  const transport = new DefaultChatTransport({ api: `${url}/ai-sdk/skills/notes`, headers });
  const parts = [{ type: "text" as const, text: "Note that I said hi." }];
  const messages: UIMessage[] = [{ id: "1", role: "user", parts }];
  const sent = { trigger: "submit-message", chatId: "chat", messageId: undefined } as const;
  for (let isAsked = true; isAsked; ) {
    const stream = await transport.sendMessages({ ...sent, messages, abortSignal: undefined });
    const [, before] = messages;
    for await (const next of readUIMessageStream({ stream, ...(before && { message: before }) }))
      messages[1] = next;
    isAsked = false;
    for (const part of messages[1]?.parts ?? []) {
      if (part.type !== "dynamic-tool" || part.state !== "approval-requested") continue;
      console.log("wants to call", part.toolName, part.input);
      isAsked = true;
      Object.assign(part, { state: "approval-responded", approval: { ...part.approval, approved: true } });
    }
  }
  console.log(messages[1]?.parts);
  assert.match(JSON.stringify(messages[1]?.parts), /The note is written/);
} finally {
  server.kill();
  await once(server, "exit");
  await provider.stop();
}
