/** OpenAI's chat completions, which many others support too, as a stream. */
import { dataEvents } from "./events.mjs";
import { isFilledList, objectsOf, textsOf } from "./wire-format.mjs";

/** @type {import("./wire-format.mjs").WireFormat} */
export const chatCompletions = {
  path: /^\/v1\/chat\/completions$/,
  readTurn({ messages, tools }) {
    const list = objectsOf(messages);
    return {
      offersTools: isFilledList(tools),
      prompts: list.filter(({ role }) => role === "user").flatMap(({ content }) => textsOf(content)),
      results: list.filter(({ role }) => role === "tool").length,
    };
  },
  writeAnswer(answer, { model }) {
    const chunk = { id: "chatcmpl_1", object: "chat.completion.chunk", created: 0, model };
    const finish_reason = "call" in answer ? "tool_calls" : "stop";
    return `${dataEvents([
      { ...chunk, choices: [{ index: 0, delta: deltaOf(answer), finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...chunk, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
    ])}data: [DONE]\n\n`;
  },
};

/** @param {import("./directives.mjs").Answer} answer */
function deltaOf(answer) {
  if (!("call" in answer)) return { role: "assistant", content: answer.text };
  const { tool, input } = answer.call;
  const call = {
    index: 0,
    id: "call_1",
    type: "function",
    function: { name: tool, arguments: JSON.stringify(input) },
  };
  return { role: "assistant", content: null, tool_calls: [call] };
}
