/**
 * Skills for any model that takes messages and tools, here over the bare chat completions API: a system message, tools
 * as JSON Schema, and `call`. A local provider plays a script.
 */
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import { createMetier, plainSkills } from "metier";

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

type Call = { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } };
type Answer = { readonly content: string | null; readonly tool_calls?: readonly Call[] };

try {
  const skills = await plainSkills(metier); // one per conversation
  const messages: object[] = [...skills.messages, { role: "user", content: "What is the codeword?" }];
  const tools = skills.tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));

  let answer = await ask(messages, tools);
  while (answer.tool_calls) {
    messages.push(answer);
    for (const { id, function: called } of answer.tool_calls) {
      const { text } = await skills.call(called.name, called.arguments);
      messages.push({ role: "tool", tool_call_id: id, content: text });
    }
    answer = await ask(messages, tools);
  }
  assert.equal(answer.content, "It is kestrel.");
} finally {
  await provider.stop();
}

async function ask(messages: readonly object[], tools: readonly object[]): Promise<Answer> {
  const body = JSON.stringify({ model: "any", messages, tools });
  const response = await fetch(`${provider.url}/v1/chat/completions`, { method: "POST", body });
  const { choices } = (await response.json()) as { choices: readonly { message: Answer }[] };
  assert.ok(choices[0]);
  return choices[0].message;
}
