/** Tries the named clients, or all, and shows each result; exits 1 if an installed one failed. */
import { homedir } from "node:os";
import { join } from "node:path";
import { say } from "../setup/repository.mjs";
import { sandboxLine, sandboxStatus } from "../setup/sandbox.mjs";
import { AGENT_SDK, tryAgentSdk } from "./agent-sdk.mjs";
import { describeTries } from "./describe-tries.mjs";
import { installClient } from "./install-client.mjs";
import { PROFILES } from "./profiles/all.mjs";
import { tryApart } from "./try-apart.mjs";

const { XDG_CACHE_HOME, METIER_CLIENTS_DIR } = process.env;
const folder = METIER_CLIENTS_DIR || join(XDG_CACHE_HOME || join(homedir(), ".cache"), "metier-clients");

const names = process.argv.slice(2);
const known = [...PROFILES, AGENT_SDK].map(({ id }) => id);
const unknown = names.find((name) => !known.includes(name));
if (unknown !== undefined) {
  say(`unknown client \`${unknown}\`; use ${known.map((id) => `\`${id}\``).join(", ")}`);
  process.exit(2);
}
if (!sandboxStatus().available) say(`the clients can reach the network and your files: ${sandboxLine()}`);

const chosen = PROFILES.filter(({ id }) => names.length === 0 || names.includes(id));
const tries = chosen.map((profile) => {
  const name = `${profile.id} ${profile.version}`;
  const skipped = installClient(profile, folder);
  say(`${skipped === undefined ? "trying" : "skipping"} ${name}`);
  return { name, outcome: skipped === undefined ? tryApart(profile, folder) : { skipped } };
});
if (tries.length > 0) process.stdout.write(describeTries(tries));
if (names.length === 0 || names.includes(AGENT_SDK.id)) {
  say(`trying ${AGENT_SDK.id} ${AGENT_SDK.version}`);
  const fault = tryAgentSdk(folder);
  say(fault === undefined ? "it refuses what a followed skill disallows" : `it FAILED:\n${fault}`);
  if (fault !== undefined) process.exitCode = 1;
}
if (tries.some(({ outcome }) => outcome.fault !== undefined)) process.exitCode = 1;
