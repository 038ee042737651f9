/** The agent a skill names, or why it cannot be used. */
import { nearestNames } from "../foundation/nearest-names.ts";
import { normaliseSkillName } from "../skill/skill-name.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { showValue } from "../validate/report.ts";
import type { Agent } from "./agent.ts";
import { builtInAgent } from "./built-in-agents.ts";

export type AgentLookup =
  | { readonly ok: true; readonly agent: Agent }
  | { readonly ok: false; readonly message: string; readonly hint: string };

const MOST_NAMED = 20;

/** By its name, also as it is written in a file: `Code Reviewer` finds `code-reviewer`. */
export function findAgent(agents: ReadonlyMap<string, Agent>, name: string): AgentLookup {
  const plain = normaliseSkillName(name);
  const agent = agents.get(name) ?? agents.get(plain) ?? builtInAgent(plain);
  if (agent === undefined)
    return { ok: false, message: `There is no agent ${showValue(name)}.`, hint: hintFor(agents, name) };
  // What may not start a loop by its own word may not lead one either.
  if (!trustAllows(agent.trust.level, "fork-by-own-word")) {
    return { ok: false, message: `The agent \`${agent.name}\` is untrusted.`, hint: agent.trust.reason };
  }
  return { ok: true, agent };
}

function hintFor(agents: ReadonlyMap<string, Agent>, name: string): string {
  const names = [...agents.keys()];
  if (names.length === 0) return "There are none; write one as `.metier/agents/<name>.md`.";
  const near = nearestNames(name, names).map((each) => `\`${each}\``);
  const listed = names.slice(0, MOST_NAMED).map((each) => `\`${each}\``);
  const all = `Available: ${listed.join(", ")}${names.length > MOST_NAMED ? ", …" : ""}.`;
  return near.length > 0 ? `Did you mean ${near.join(" or ")}? ${all}` : all;
}
