/**
 * Skills in an AI SDK loop. A local provider plays a script, so this needs no key: the model asks for the skill and
 * says the codeword from it.
 */
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { LLMock } from "@copilotkit/aimock";
import { generateText, isStepCount, tool } from "ai";
import { createMetier } from "metier";
import { aiSdkSkills } from "metier/ai-sdk";
import { z } from "zod";

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

try {
  const models = createOpenAICompatible({ name: "fake", baseURL: `${provider.url}/v1` });
  const skills = await aiSdkSkills(metier); // one per conversation
  const clock = tool({
    description: "Says what time it is.",
    inputSchema: z.object({}),
    execute: () => new Date().toISOString(),
  });
  const tools = { ...skills.tools, clock };

  const { text, steps } = await generateText({
    model: models("any"),
    instructions: `You answer questions.\n\n${skills.instructions}`,
    tools,
    prepareStep: skills.prepareStep(tools),
    stopWhen: isStepCount(5),
    prompt: "What is the codeword?",
  });

  console.log(`${text} (${steps.length} steps)`);
  assert.equal(text, "It is kestrel.");
  assert.deepEqual(
    skills.conversation.activations.map(({ name }) => name),
    ["codeword"],
  );
} finally {
  await provider.stop();
}
