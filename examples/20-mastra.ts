/**
 * Skills for a Mastra agent: tools, and a processor that tells the model about the skills and enforces on the agent's
 * own tools what a skill disallows. A local provider plays a script: it asks for the skill, then tries to send a mail
 * anyway.
 */
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { createMetier } from "metier";
import { mastraSkills } from "metier/mastra";
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
  const send_mail = createTool({
    id: "send_mail",
    description: "Sends a mail.",
    inputSchema: z.object({ to: z.string() }),
    execute: async () => `${++mails} sent`,
  });
  const skills = await mastraSkills(metier); // one per conversation
  const agent = new Agent({
    id: "answerer",
    name: "Answerer",
    instructions: "You answer questions.",
    model: { id: "fake/gpt-4.1", url: `${provider.url}/v1`, apiKey: "none" },
    tools: { ...skills.tools, send_mail },
    inputProcessors: [skills.processor],
  });

  const { text } = await agent.generate("What is the codeword?", { maxSteps: 5 });
  console.log(text);
  assert.equal(text, "It is kestrel.");
  assert.equal(mails, 0);
  assert.deepEqual(skills.reports, []);
} finally {
  await provider.stop();
}
