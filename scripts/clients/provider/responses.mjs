/** OpenAI's Responses API, as a stream. */
import { namedEvents } from "./events.mjs";
import { isFilledList, objectsOf, textsOf } from "./wire-format.mjs";

/** @type {import("./wire-format.mjs").WireFormat} */
export const responses = {
  path: /^\/v1\/responses$/,
  readTurn({ input, tools }) {
    const items = objectsOf(input);
    return {
      offersTools: isFilledList(tools),
      prompts: items.filter(({ role }) => role === "user").flatMap(({ content }) => textsOf(content)),
      results: items.filter(({ type }) => type === "function_call_output").length,
    };
  },
  writeAnswer(answer, { model, tools }) {
    const item = "call" in answer ? callItem(answer.call, tools) : messageItem(answer.text);
    const response = { id: "resp_1", object: "response", created_at: 0, model };
    const usage = {
      input_tokens: 1,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 1,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 2,
    };
    return namedEvents([
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
      ...("text" in answer
        ? [
            {
              type: "response.output_text.delta",
              item_id: item.id,
              output_index: 0,
              content_index: 0,
              delta: answer.text,
            },
          ]
        : []),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
    ]);
  },
};

/** @param {string} text */
function messageItem(text) {
  const content = [{ type: "output_text", text, annotations: [] }];
  return { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
}

/**
 * A tool in a namespace is called by two names; in a prompt they are joined by `__`.
 *
 * @param {import("./directives.mjs").Call} call
 * @param {unknown} tools
 */
function callItem({ tool, input }, tools) {
  const spaces = objectsOf(tools).filter(({ type }) => type === "namespace");
  const [names = { name: tool }] = spaces.flatMap(({ name: namespace, tools: inside }) =>
    objectsOf(inside).flatMap(({ name }) => (`${namespace}__${name}` === tool ? [{ namespace, name }] : [])),
  );
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", status: "completed" };
  return { ...call, ...names, arguments: JSON.stringify(input) };
}
