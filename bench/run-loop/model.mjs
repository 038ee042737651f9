/** A model without a network: it calls one tool until it has taken the requested steps, then says so. */

/** @typedef {import("@ai-sdk/provider").LanguageModelV4} Model */
/** @typedef {import("@ai-sdk/provider").LanguageModelV4StreamPart} Part */

export const TOOL = "add";
export const TOOL_ABOUT = "Adds two numbers.";
export const TOOL_INPUT = /** @type {const} */ ({
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
});

const WORDS = [
  "The sum ",
  "is not ",
  "known yet, ",
  "so it is ",
  "added up ",
  "with the ",
  "tool that ",
  "adds.",
];
const USAGE = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 20, text: 20, reasoning: 0 },
};

/** The prompt of a run. @param {number} steps calls of the model */
export function askFor(steps) {
  return `Take ${steps} steps.`;
}

/** The expected answer. @param {number} steps */
export function answerTo(steps) {
  return `Took ${steps} steps.`;
}

/**
 * One model for any number of concurrent runs: its answers depend only on the request.
 *
 * @param {() => Promise<void>} [beforeAnswer] what each answer waits for
 * @returns {Model}
 */
export function createModel(beforeAnswer = async () => undefined) {
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "adder",
    supportedUrls: {},
    async doStream({ prompt }) {
      await beforeAnswer();
      return { stream: streamOf(nextParts(prompt)) };
    },
    doGenerate() {
      throw new Error("The bench streams.");
    },
  };
}

/** @param {import("@ai-sdk/provider").LanguageModelV4Prompt} prompt @returns {readonly Part[]} */
function nextParts(prompt) {
  const wanted = Number(
    /Take (\d+) steps/.exec(JSON.stringify(prompt.find(({ role }) => role === "user")))?.[1],
  );
  const step = prompt.filter(({ role }) => role === "tool").length + 1;
  const isLast = step >= wanted;
  const id = `text-${step}`;
  const texts = isLast ? [answerTo(wanted)] : WORDS;
  const reason = isLast ? "stop" : "tool-calls";
  return [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id },
    ...texts.map((delta) => /** @type {Part} */ ({ type: "text-delta", id, delta })),
    { type: "text-end", id },
    ...(isLast ? [] : [callOf(step)]),
    { type: "finish", finishReason: { unified: reason, raw: reason }, usage: USAGE },
  ];
}

/** @param {number} step @returns {Part} */
function callOf(step) {
  const input = JSON.stringify({ a: step, b: 1 });
  return { type: "tool-call", toolCallId: `call-${step}`, toolName: TOOL, input };
}

/** One part at a time, like a provider's stream. @param {readonly Part[]} parts @returns {ReadableStream<Part>} */
function streamOf(parts) {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const part = parts[at++];
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}
