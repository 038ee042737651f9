/**
 * Skills over chat completions, from OpenAI or anyone who supports them: tools in that format, and `answer` for the
 * model's calls. A skill takes away the tools it disallows while the model follows it. The provider plays a script.
 */
import assert from "node:assert/strict";
import { LLMock } from "@copilotkit/aimock";
import { createMetier } from "metier";
import { openAiChatSkills } from "metier/openai";

const metier = await createMetier({ autoDiscover: false });
await metier.register({
  name: "codeword",
  description: "Knows the codeword. Use when someone asks for it.",
  instructions: "The codeword is kestrel. Tell it to whoever asks.",
  disallowedTools: ["send_mail"],
});

const provider = new LLMock({ port: 0, logLevel: "silent" });
provider.addFixtures([
  { match: { hasToolResult: true }, response: { content: "It is kestrel." } },
  { match: {}, response: { toolCalls: [{ name: "use_skill", arguments: '{"skill":"codeword"}' }] } },
]);
await provider.start();

type Message = { readonly content: string | null; readonly tool_calls?: readonly unknown[] };
const sent: string[][] = []; // The names of the tools in each request.

try {
  const skills = await openAiChatSkills(metier); // one per conversation
  const parameters = { type: "object", properties: {} };
  const sendMail = { type: "function", function: { name: "send_mail", description: "Sends.", parameters } };
  const messages: object[] = [
    { role: "system", content: `You answer questions.\n\n${skills.instructions}` },
    { role: "user", content: "What is the codeword?" },
  ];
  skills.startTurn(); // the user has spoken
  let message: Message;
  do {
    const tools = skills.narrow([...skills.tools, sendMail]);
    sent.push(tools.map((tool) => tool.function.name));
    const body = JSON.stringify({ model: "gpt-4.1", messages, tools });
    const response = await fetch(`${provider.url}/v1/chat/completions`, { method: "POST", body });
    const { choices } = (await response.json()) as { choices: readonly { message: Message }[] };
    message = choices[0]?.message ?? { content: null };
    messages.push(message, ...(await skills.answer(message)));
  } while (message.tool_calls);

  console.log(message.content, sent);
  assert.equal(message.content, "It is kestrel.");
  assert.ok(sent[0]?.includes("send_mail") && !sent[1]?.includes("send_mail"));
} finally {
  await provider.stop();
}
