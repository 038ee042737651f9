/**
 * The same work done by the bare loop of the AI SDK and by isolated runs of a skill. Both are loaded on demand: this
 * file is read before the setup has installed the one and built the other.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../../scripts/setup/repository.mjs";
import { answerTo, askFor, TOOL, TOOL_ABOUT, TOOL_INPUT } from "./model.mjs";

/** @typedef {import("@ai-sdk/provider").LanguageModelV4} Model */
/** @typedef {(steps: number) => Promise<void>} Run to its end; throws unless the work was done */

export const BARE = "bare AI SDK loop";
/** The library's default: no working directory. */
export const METIER = "metier";
const METIER_IN_FOLDER = "metier, in a folder";
const METIER_WITH_SECRET = "metier, in a folder, a secret to redact";
export const CONTESTANTS = [BARE, METIER, METIER_IN_FOLDER, METIER_WITH_SECRET];

/** In the working directory of the runs that have one. */
export const PROJECT_FILES = 1000;

const MOST_STEPS = 1000;
const SECRET = { name: "ADDER_KEY", value: "5kZq0Wc7uJ1xT9bLr4Ne" };
const INSTRUCTIONS =
  "You add numbers. Call the tool as often as you are asked to, then say how many steps you took.";

/** @param {string} folder empty; gets a home and a project */
export function createFolders(folder) {
  mkdirSync(join(folder, "home"));
  for (let index = 0; index < PROJECT_FILES; index++) {
    const place = join(folder, "project", `part-${index % 50}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file-${index}.txt`), "");
  }
}

/**
 * @param {string} name
 * @param {Model} model
 * @param {string} folder with what `createFolders` made
 * @returns {Promise<Run>}
 */
export function createContestant(name, model, folder) {
  return name === BARE ? createBare(model) : createOwn(model, folder, name);
}

/** @param {Model} model @returns {Promise<Run>} */
async function createBare(model) {
  const { isStepCount, jsonSchema, ToolLoopAgent, tool } = await import("ai");
  const agent = new ToolLoopAgent({
    model,
    instructions: INSTRUCTIONS,
    tools: {
      [TOOL]: tool({
        description: TOOL_ABOUT,
        inputSchema: jsonSchema({ ...TOOL_INPUT, required: [...TOOL_INPUT.required] }),
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

/** @param {Model} model @param {string} folder @param {string} name @returns {Promise<Run>} */
async function createOwn(model, folder, name) {
  const hasSecret = name === METIER_WITH_SECRET;
  const { createMetier } = await importMetier();
  const metier = await createMetier({
    home: join(folder, "home"),
    ...(name !== METIER && { cwd: join(folder, "project") }),
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
    ...(hasSecret && { config: { skills: { adder: { [SECRET.name]: SECRET.value } } } }),
  });
  return async (steps) => {
    const limits = { maxIterations: MOST_STEPS };
    const { text, error } = await metier.run({ skill: "adder", message: askFor(steps), limits });
    check(error?.message ?? text, steps);
  };
}

/** The built library, as users install it. @returns {Promise<typeof import("../../packages/metier/src/index.ts")>} */
async function importMetier() {
  return import(pathToFileURL(join(ROOT, "packages/metier/dist/index.js")).href);
}

/** @param {any} input */
function add({ a, b }) {
  return String(a + b);
}

/** @param {string} text @param {number} steps */
function check(text, steps) {
  if (text !== answerTo(steps)) throw new Error(`\`${answerTo(steps)}\` was expected, not \`${text}\`.`);
}
