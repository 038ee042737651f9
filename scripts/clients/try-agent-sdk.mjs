/**
 * Checks the Claude Agent SDK against the contract of the adapters: `node try-agent-sdk.mjs <where it is installed>
 * <empty folder>`. Its model asks for a skill that disallows some commands, then calls one of them: it must be
 * refused, and must work without the skill.
 */
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createMetier } from "metier";
import { claudeSkills } from "metier/claude";
import { z } from "zod";
import { DUMMY_KEY } from "./profile.mjs";
import { startProvider } from "./provider/start-provider.mjs";

const [place = "", folder = ""] = process.argv.slice(2);
const require = createRequire(join(place, "package.json"));
const { createSdkMcpServer, query } = await import(
  pathToFileURL(require.resolve("@anthropic-ai/claude-agent-sdk")).href
);

const metier = await createMetier({ autoDiscover: false });
await metier.register({
  name: "look",
  description: "Looks around.",
  disallowedTools: ["Bash(touch:*)"],
  instructions: "Only look. The codeword is kestrel.",
});

/**
 * @param {string} name of a folder for it
 * @param {readonly (readonly [tool: string, input: object])[]} calls of the model
 */
async function ask(name, calls) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  const provider = await startProvider();
  const skills = await claudeSkills(metier, { z });
  const options = {
    cwd,
    mcpServers: { metier: createSdkMcpServer({ name: "metier", tools: skills.tools }) },
    allowedTools: [...skills.allowedTools, "Bash"],
    hooks: skills.hooks,
    settingSources: [],
    maxTurns: calls.length,
    env: {
      PATH: process.env.PATH,
      HOME: cwd,
      TMPDIR: cwd,
      ANTHROPIC_BASE_URL: provider.url,
      ANTHROPIC_API_KEY: DUMMY_KEY,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
    },
  };
  const words = calls.map(([tool, input]) => `%%CALL ${tool} ${JSON.stringify(input)}%%`);
  const told = [];
  try {
    for await (const message of query({ prompt: `Go. ${words.join(" ")}`, options })) {
      if (message.type === "user") told.push(JSON.stringify(message.message));
    }
  } catch (error) {
    // It throws when the turns are used up, as they are here.
    told.push(String(error));
  }
  await provider.close();
  return { told: told.join("\n"), isMade: existsSync(join(cwd, "made")), reports: skills.reports };
}

const touch = /** @type {const} */ (["Bash", { command: "touch made", description: "Makes a file" }]);
const followed = await ask("followed", [["mcp__metier__use_skill", { skill: "look" }], touch]);
assert.match(followed.told, /kestrel/);
assert.match(followed.told, /was not allowed: `disallowed-tools` of skill `look`/);
assert.equal(followed.isMade, false, followed.told);
assert.deepEqual(followed.reports, []);
const free = await ask("free", [touch]);
assert.equal(free.isMade, true, free.told);
