/**
 * Requests to `metier mcp` and to the official SDK's example, each in its own process, in turns: one after the other,
 * then several at a time. Prints the milliseconds of every request as JSON.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/setup/repository.mjs";
import { generateSkills } from "../generate-skills.mjs";
import { startServer } from "../mcp/client.mjs";
import { METIER, requestsFor, SDK, TRANSPORTS } from "../mcp/contestants.mjs";

/** @typedef {{ single: number[], together: number, togetherMs: number }} Times `together`: how many there were */

const [folder = "", rounds = "1", warmUps = "0", perRound = "50", atOnce = "8", skillCount = "100"] =
  process.argv.slice(2);
const [home, project] = [join(folder, "home"), join(folder, "project")];
const skills = join(home, ".claude", "skills");
mkdirSync(project, { recursive: true });
generateSkills(skills, Number(skillCount));
const options = {
  cwd: project,
  env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", NODE_NO_WARNINGS: "1" },
};

/** @type {Readonly<Record<string, (transport: string) => readonly string[]>>} */
const COMMANDS = {
  [METIER]: (transport) => [
    process.execPath,
    join(ROOT, "packages/metier/bin/metier.js"),
    "mcp",
    ...(transport === "http" ? ["--http", "--json"] : []),
  ],
  [SDK]: (transport) => [
    process.execPath,
    join(import.meta.dirname, "..", "mcp", "sdk-server.mjs"),
    skills,
    transport,
  ],
};

/** @type {Record<string, Record<string, Record<string, Times>>>} by transport, request and server */
const results = {};
for (const transport of TRANSPORTS) results[transport] = await measure(transport);
process.stdout.write(JSON.stringify(results), () => process.exit()); // More than a pipe takes at once.

/** @param {string} transport */
async function measure(transport) {
  const servers = await Promise.all(
    [METIER, SDK].map(async (name) => ({
      name,
      client: await startServer(COMMANDS[name]?.(transport) ?? [], transport, options),
    })),
  );
  const listed = await Promise.all(
    servers.map(({ client }) => client.ask({ method: "skills/list", params: {} })),
  );
  const skill = commonSkill(listed);
  /** @type {Record<string, Record<string, Times>>} */
  const times = {};
  for (let round = -Number(warmUps); round < Number(rounds); round++) {
    for (const { name, client } of servers) {
      for (const [request, asked] of Object.entries(requestsFor(name, skill))) {
        times[request] ??= {};
        times[request][name] ??= { single: [], together: 0, togetherMs: 0 };
        const kept = times[request][name];
        const single = await askInLanes(() => client.ask(asked), 1);
        const started = performance.now();
        const together = await askInLanes(() => client.ask(asked), Number(atOnce));
        if (round < 0) continue;
        kept.togetherMs += performance.now() - started;
        kept.together += together.length;
        kept.single.push(...single);
      }
    }
  }
  for (const { client } of servers) client.close();
  return times;
}

/** Served by both. @param {readonly unknown[]} listed */
function commonSkill(listed) {
  const names = listed.map((result) =>
    /** @type {{ skills: { frontmatter: { name: string } }[] }} */ (result).skills.map(
      ({ frontmatter }) => frontmatter.name,
    ),
  );
  const found = names[0]?.find((name) => names.every((others) => others.includes(name)));
  if (found === undefined) throw new Error("The servers have no skill in common.");
  return found;
}

/** @param {() => Promise<unknown>} work @param {number} lanes @returns {Promise<number[]>} how long each took */
async function askInLanes(work, lanes) {
  /** @type {number[]} */
  const times = [];
  let left = Number(perRound);
  const lane = async () => {
    while (left-- > 0) {
      const start = performance.now();
      await work();
      times.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return times;
}
