/** The same work done twice: by the bare loop of the AI SDK, and by isolated runs of a skill. */
import { isStepCount, jsonSchema, ToolLoopAgent, tool } from "ai";
import { createMetier } from "../../dist/index.js";
import { answerTo, askFor, TOOL, TOOL_ABOUT, TOOL_INPUT } from "./model.mjs";

export const BARE = "bare AI SDK loop";
export const METIER = "metier";
export const METIER_WITH_SECRET = "metier, a secret to redact";
export const CONTESTANTS = [BARE, METIER, METIER_WITH_SECRET];

const MOST_STEPS = 1000;
const SECRET = { name: "ADDER_KEY", value: "5kZq0Wc7uJ1xT9bLr4Ne" };
const INSTRUCTIONS =
  "You add numbers. Call the tool as often as you are asked to, then say how many steps you took.";

/** @typedef {(steps: number) => Promise<void>} Run one run to its end; throws unless it did the work */
/** @typedef {import("@ai-sdk/provider").LanguageModelV4} Model */

/**
 * @param {string} name
 * @param {Model} model
 * @param {string} home an empty folder
 * @returns {Promise<Run>}
 */
export async function createContestant(name, model, home) {
  return name === BARE ? createBare(model) : createOwn(model, home, name === METIER_WITH_SECRET);
}

/** @param {Model} model @returns {Run} */
function createBare(model) {
  const agent = new ToolLoopAgent({
    model,
    instructions: INSTRUCTIONS,
    tools: {
      [TOOL]: tool({
        description: TOOL_ABOUT,
        inputSchema: jsonSchema(TOOL_INPUT),
        execute: async (input) => add(input),
      }),
    },
    stopWhen: isStepCount(MOST_STEPS),
  });
  return async (steps) => {
    const { stream } = await agent.stream({ prompt: askFor(steps) });
    let text = "";
    for await (const part of stream) {
      if (part.type === "start-step") text = "";
      if (part.type === "text-delta") text += part.text;
    }
    check(text, steps);
  };
}

/** @param {Model} model @param {string} home @param {boolean} hasSecret @returns {Promise<Run>} */
async function createOwn(model, home, hasSecret) {
  const metier = await createMetier({
    home,
    cwd: home,
    models: { default: model },
    tools: [
      {
        name: TOOL,
        description: TOOL_ABOUT,
        inputSchema: TOOL_INPUT,
        effect: "talk",
        execute: async (input) => ({ text: add(input), isError: false }),
      },
    ],
    integrations: [
      {
        name: "adder",
        description: TOOL_ABOUT,
        instructions: INSTRUCTIONS,
        "allowed-tools": [TOOL],
        env: hasSecret ? [SECRET.name] : [],
      },
    ],
    config: { skills: { adder: { [SECRET.name]: SECRET.value } } },
  });
  return async (steps) => {
    const limits = { maxIterations: MOST_STEPS };
    const { text, error } = await metier.run({ skill: "adder", message: askFor(steps), limits });
    check(error?.message ?? text, steps);
  };
}

/** @param {any} input */
function add({ a, b }) {
  return String(a + b);
}

/** @param {string} text @param {number} steps */
function check(text, steps) {
  if (text !== answerTo(steps)) throw new Error(`\`${answerTo(steps)}\` was expected, not \`${text}\`.`);
}
