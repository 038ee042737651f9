/** Anthropic's Messages API, as a stream. */
import { namedEvents } from "./events.mjs";
import { isFilledList, objectsOf, textsOf } from "./wire-format.mjs";

/** @type {import("./wire-format.mjs").WireFormat} */
export const anthropicMessages = {
  path: /^\/v1\/messages$/,
  readTurn({ messages, tools }) {
    const fromUser = objectsOf(messages).filter(({ role }) => role === "user");
    return {
      offersTools: isFilledList(tools),
      prompts: fromUser.flatMap(({ content }) => textsOf(content)),
      results: fromUser
        .flatMap(({ content }) => objectsOf(content))
        .filter(({ type }) => type === "tool_result").length,
    };
  },
  writeAnswer(answer, { model }) {
    const message = { id: "msg_1", type: "message", role: "assistant", model, content: [] };
    const usage = { input_tokens: 1, output_tokens: 1 };
    return namedEvents([
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
      ...blockEvents(answer),
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "call" in answer ? "tool_use" : "end_turn", stop_sequence: null },
        usage,
      },
      { type: "message_stop" },
    ]);
  },
};

/** @param {import("./directives.mjs").Answer} answer */
function blockEvents(answer) {
  const [content_block, delta] =
    "call" in answer
      ? [
          { type: "tool_use", id: "toolu_1", name: answer.call.tool, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(answer.call.input) },
        ]
      : [
          { type: "text", text: "" },
          { type: "text_delta", text: answer.text },
        ];
  return [
    { type: "content_block_start", index: 0, content_block },
    { type: "content_block_delta", index: 0, delta },
  ];
}
