/** The model for these runs: the one of the run-loop bench, plus one `bash` call on request. */
import { createModel } from "../run-loop/model.mjs";

/** @typedef {import("@ai-sdk/provider").LanguageModelV4} Model */
/** @typedef {import("@ai-sdk/provider").LanguageModelV4StreamPart} Part */

const USAGE = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

/** The prompt of a run that makes one call. @param {string} command */
export function askForCommand(command) {
  return `Run <<${command}>>.`;
}

/** @returns {Model} */
export function createServiceModel() {
  const adder = createModel();
  return {
    ...adder,
    async doStream(call) {
      const asked = call.prompt.findLast(({ role }) => role === "user");
      const [, command] = /Run <<(.*)>>/.exec(JSON.stringify(asked)) ?? [];
      if (command === undefined) return adder.doStream(call);
      const hasCalled = call.prompt.some(({ role }) => role === "tool");
      const parts = hasCalled ? say("Done.") : [callOf(JSON.parse(`"${command}"`))];
      const reason = hasCalled ? "stop" : "tool-calls";
      /** @type {readonly Part[]} */
      const all = [
        { type: "stream-start", warnings: [] },
        ...parts,
        { type: "finish", finishReason: { unified: reason, raw: reason }, usage: USAGE },
      ];
      return { stream: /** @type {ReadableStream<Part>} */ (ReadableStream.from(all)) };
    },
  };
}

/** @param {string} delta @returns {readonly Part[]} */
function say(delta) {
  return [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta },
    { type: "text-end", id: "t" },
  ];
}

/** @param {string} command @returns {Part} */
function callOf(command) {
  return { type: "tool-call", toolCallId: "call-1", toolName: "bash", input: JSON.stringify({ command }) };
}
