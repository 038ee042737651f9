/**
 * Tries one client and writes the results to `result.json`: `node try-client.mjs <client> <its program> <empty
 * folder>`. `try-apart.mjs` starts it without a network; provider, client and `metier mcp` meet on loopback.
 */
import { spawnSync } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clientPath, findClient } from "@metier/install";
import { PROFILES } from "./profiles/all.mjs";
import { startProvider } from "./provider/start-provider.mjs";
import { runClient } from "./run-client.mjs";
import { installSkills, makeWorld, runMetier } from "./world.mjs";

/** @typedef {import("./profile.mjs").Profile} Profile */

const START_LIMIT_MS = 60_000;

/**
 * @typedef {object} Result
 * @property {boolean} home whether it listed the skill in its home folder
 * @property {boolean} project whether it listed the skill in its project folder
 * @property {boolean} opened whether the client itself gave its model the listed skill's instructions
 * @property {boolean | undefined} [mcp] whether its model got the instructions by `use_skill`; `undefined`: it doesn't support MCP
 * @property {number} ms how long the client ran, without a server
 */

/**
 * @param {Profile} profile
 * @param {string} program
 * @param {string} folder
 * @returns {Promise<{ skipped: string } | { result: Result, details: string }>} details: its output and requests
 */
async function tryClient(profile, program, folder) {
  const world = makeWorld(folder);
  const { status, stderr, error } = spawnSync(program, ["--version"], {
    env: world.env,
    encoding: "utf8",
    timeout: START_LIMIT_MS,
  });
  if (status !== 0) return { skipped: `it can't be started: ${error?.message ?? stderr}` };
  installSkills(world, profile.id);
  const { name, mark, codeword } = world.homeSkill;
  const ask = { profile, program, world };
  const open = profile.open({ name, file: installedFile(world.home, profile, name) });
  // The server also tells the model about skills, so what the client lists by itself is checked without it.
  const alone = await askOnce({ ...ask, call: open });
  const served = profile.mcp && (await askOnce({ ...ask, ...throughServer(world, profile.mcp, name) }));
  const result = {
    home: alone.before.includes(mark),
    project: alone.before.includes(world.projectSkill.mark),
    opened: brings(alone, codeword),
    mcp: served && brings(served, codeword),
    ms: alone.ms,
  };
  return { result, details: [alone.details, served?.details].filter(Boolean).join("\n") };
}

/** Where Metier put the skill for this client. @param {string} home @param {Profile} profile @param {string} name */
function installedFile(home, { id }, name) {
  const client = findClient(id);
  if (!client) throw new Error(`Metier doesn't know the client \`${id}\`.`);
  return join(home, clientPath(client, "user", name), "SKILL.md");
}

/**
 * @param {import("./world.mjs").World} world
 * @param {NonNullable<Profile["mcp"]>} mcp
 * @param {string} skill
 */
function throughServer(world, { config, tool }, skill) {
  return { mcp: runMetier(world, ["mcp", "--print-config", config]), call: { tool, input: { skill } } };
}

/**
 * Runs the client with a prompt that makes its model call one tool.
 *
 * @param {object} ask
 * @param {Profile} ask.profile
 * @param {string} ask.program
 * @param {import("./world.mjs").World} ask.world
 * @param {import("./provider/directives.mjs").Call} ask.call
 * @param {string} [ask.mcp]
 */
async function askOnce({ profile, program, world, call, mcp }) {
  const provider = await startProvider();
  const prompt = `What is the codeword? %%CALL ${call.tool} ${JSON.stringify(call.input)}%%`;
  const start = profile.start({ url: provider.url, mcp, home: world.home, prompt });
  const { fault, output, ms } = await runClient(program, start, world);
  await provider.close();
  const requests = provider.requests();
  const file = join(world.folder, mcp ? "requests-with-server.json" : "requests-alone.json");
  writeFileSync(file, JSON.stringify(requests, null, 2));
  const textsWhere = (/** @type {(results: number) => boolean} */ fits) =>
    requests.flatMap(({ text, results }) => (fits(results) ? [text] : [])).join("\n");
  return {
    ms,
    /** All requests before the call, and after it. */
    before: textsWhere((results) => results === 0),
    after: textsWhere((results) => results > 0),
    details: [fault, output.trim(), ...requests.map(({ line }) => line)].filter(Boolean).join("\n"),
  };
}

/** Whether the call brought the word to the model. @param {{ before: string, after: string }} asked @param {string} word */
function brings({ before, after }, word) {
  return after.includes(word) && !before.includes(word);
}

const [id, program = "", folder = ""] = process.argv.slice(2);
const profile = PROFILES.find((one) => one.id === id);
if (!profile) throw new Error(`Unknown client \`${id}\`; use ${PROFILES.map((one) => one.id).join(", ")}.`);
const result = await tryClient(profile, program, realpathSync(folder));
writeFileSync(join(folder, "result.json"), JSON.stringify(result));
