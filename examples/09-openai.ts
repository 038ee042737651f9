/**
 * Skills for the OpenAI Agents SDK, and the same over the bare Responses API. There is no file system: the
 * instructions tell the model about the skills. A local provider plays a script.
 */
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import { createMetier } from "metier";
import { openAiAgentSkills, openAiResponsesSkills } from "metier/openai";

const metier = await createMetier({ autoDiscover: false });
await metier.register({
  name: "codeword",
  description: "Knows the codeword. Use when someone asks for it.",
  instructions: "The codeword is kestrel. Tell it to whoever asks.",
});

const provider = new LLMock({ port: 0, logLevel: "silent" });
provider.addFixtures([
  {
    match: { hasToolResult: true },
    response: ({ messages }) => ({
      content: `It is ${/word is (\w+)/.exec(JSON.stringify(messages.at(-1)))?.[1]}.`,
    }),
  },
  { match: {}, response: { toolCalls: [{ name: "use_skill", arguments: '{"skill":"codeword"}' }] } },
]);
await provider.start();
const baseURL = `${provider.url}/v1`;
const question = "What is the codeword?";

try {
  const { instructions, tools } = await openAiAgentSkills(metier); // one per conversation
  const agent = new Agent({ name: "Answerer", model: "gpt-4.1", instructions, tools });
  const modelProvider = new OpenAIProvider({ baseURL, apiKey: "none" });
  const { finalOutput } = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, question);
  console.log(`Agents SDK: ${finalOutput}`);
  assert.equal(finalOutput, "It is kestrel.");

  const skills = await openAiResponsesSkills(metier);
  const input: unknown[] = [{ role: "user", content: question }];
  const ask = async () => {
    const body = { model: "gpt-4.1", instructions: skills.instructions, tools: skills.tools, input };
    const response = await fetch(`${baseURL}/responses`, { method: "POST", body: JSON.stringify(body) });
    return ((await response.json()) as { output: unknown[] }).output;
  };
  let output = await ask();
  for (let calls = await skills.answer(output); calls.length > 0; calls = await skills.answer(output)) {
    input.push(...output, ...calls);
    output = await ask();
  }
  console.log(`Responses: ${JSON.stringify(output)}`);
  assert.match(JSON.stringify(output), /It is kestrel\./);
} finally {
  await provider.stop();
}
