/**
 * Tries one client and writes what it found to `result.json`: `node try-client.mjs <client> <its program> <empty folder>`.
 * `try-apart.mjs` starts it where there is no network; provider, client and `metier mcp` meet on the loopback in there.
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
 * @property {boolean} home whether it listed the skill of its folder in the home
 * @property {boolean} project whether it listed the skill of its folder in the project
 * @property {boolean} opened whether its model got the instructions of the listed skill by the client's own means
 * @property {boolean | undefined} [mcp] whether its model got the instructions by `use_skill`; nothing: it does not speak MCP
 * @property {number} ms how long the client ran, without a server
 */

/**
 * @param {Profile} profile
 * @param {string} program
 * @param {string} folder
 * @returns {Promise<{ skipped: string } | { result: Result, details: string }>} details: what it said and asked
 */
async function tryClient(profile, program, folder) {
  const world = makeWorld(folder);
  const { status, stderr, error } = spawnSync(program, ["--version"], {
    env: world.env,
    encoding: "utf8",
    timeout: START_LIMIT_MS,
  });
  if (status !== 0) return { skipped: `it cannot be started: ${error?.message ?? stderr}` };
  installSkills(world, profile.id);
  const { name, mark, codeword } = world.homeSkill;
  const ask = { profile, program, world };
  const open = profile.open({ name, file: installedFile(world.home, profile, name) });
  // The server tells the model of skills as well: what the client lists by itself is looked at without it.
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
  if (!client) throw new Error(`Metier knows no client \`${id}\`.`);
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
    /** All that was asked before the call, and after it. */
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
if (!profile)
  throw new Error(`There is no client \`${id}\`; there are ${PROFILES.map((one) => one.id).join(", ")}.`);
const result = await tryClient(profile, program, realpathSync(folder));
writeFileSync(join(folder, "result.json"), JSON.stringify(result));
