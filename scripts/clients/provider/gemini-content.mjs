/** The Gemini API's `streamGenerateContent`. */
import { dataEvents } from "./events.mjs";
import { isFilledList, objectsOf, textsOf } from "./wire-format.mjs";

/** @type {import("./wire-format.mjs").WireFormat} */
export const geminiContent = {
  path: /^\/v1beta\/models\/[\w.-]+:streamGenerateContent$/,
  readTurn({ contents, tools }) {
    const parts = objectsOf(contents)
      .filter(({ role }) => role === "user")
      .map(({ parts: list }) => list);
    return {
      offersTools: isFilledList(tools),
      prompts: parts.flatMap(textsOf),
      results: parts.flatMap(objectsOf).filter((part) => "functionResponse" in part).length,
    };
  },
  writeAnswer(answer) {
    const part =
      "call" in answer
        ? { functionCall: { name: answer.call.tool, args: answer.call.input } }
        : { text: answer.text };
    return dataEvents([
      {
        candidates: [{ index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      },
    ]);
  },
};
