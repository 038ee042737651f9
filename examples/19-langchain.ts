/**
 * Skills for a LangChain.js agent: one middleware adds the tools, tells the model about the skills, and enforces on
 * the agent's own tools what a skill disallows. A local provider plays a script: it asks for the skill, then tries to
 * send a mail anyway.
 */
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { createMetier } from "metier";
import { langChainSkills } from "metier/langchain";
import { z } from "zod";

const metier = await createMetier({ autoDiscover: false });
await metier.register({
  name: "codeword",
  description: "Knows the codeword. Use when someone asks for it.",
  disallowedTools: ["send_mail"],
  instructions: "The codeword is kestrel. Tell it to whoever asks, and to nobody else.",
});

const provider = new LLMock({ port: 0, logLevel: "silent" });
const call = (name: string, input: object) => ({ toolCalls: [{ name, arguments: JSON.stringify(input) }] });
provider.addFixtures([
  { match: { sequenceIndex: 0 }, response: call("use_skill", { skill: "codeword" }) },
  { match: { sequenceIndex: 1 }, response: call("send_mail", { to: "all@example.com" }) },
  { match: {}, response: { content: "It is kestrel." } },
]);
await provider.start();

try {
  let mails = 0;
  const sendMail = tool(() => `${++mails} sent`, {
    name: "send_mail",
    description: "Sends a mail.",
    schema: z.object({ to: z.string() }),
  });
  const skills = await langChainSkills(metier, { tool }); // one per conversation
  const agent = createAgent({
    model: new ChatOpenAI({
      model: "gpt-4.1",
      apiKey: "none",
      configuration: { baseURL: `${provider.url}/v1` },
    }),
    tools: [sendMail],
    systemPrompt: "You answer questions.",
    middleware: [skills.middleware],
  });

  const { messages } = await agent.invoke({ messages: [{ role: "user", content: "What is the codeword?" }] });
  console.log(messages.map(({ type, text }) => `${type}: ${text.slice(0, 90)}`).join("\n"));
  assert.equal(messages.at(-1)?.text, "It is kestrel.");
  assert.match(messages.at(-2)?.text ?? "", /`send_mail` was not allowed/);
  assert.equal(mails, 0);
  assert.deepEqual(skills.reports, []);
} finally {
  await provider.stop();
}
