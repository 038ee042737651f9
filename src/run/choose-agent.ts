/** Who carries out a skill that forks: the agent it names, with the skills that agent is given beforehand. */
import type { Agent } from "../agents/agent.ts";
import { findAgent } from "../agents/find-agent.ts";
import { describeCycle, findCycle } from "../agents/find-cycle.ts";
import { preloadSkills } from "../agents/preload-skills.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { RunHost } from "./run-host.ts";

export interface AgentFault {
  readonly code: "agent.missing" | "agent.cycle";
  readonly message: string;
  readonly hint: string;
}

export type AgentChoice =
  | {
      readonly ok: true;
      readonly agent?: Agent;
      /** The instructions it is given beforehand, wrapped. */
      readonly preloaded?: string;
    }
  | { readonly ok: false; readonly fault: AgentFault };

/** The agent a fork names, with the skills it is given beforehand; a fork that names none gets a temporary one. */
export async function chooseAgent({ skill }: PreparedInvocation, host: RunHost): Promise<AgentChoice> {
  const { context, agent: name } = skill.manifest;
  if (context !== "fork" || name === undefined) return { ok: true };
  const { agents } = await host.agents();
  const found = findAgent(agents, name);
  if (!found.ok) return { ok: false, fault: { ...found, code: "agent.missing" } };
  const cycle = findCycle(skill.name, {
    agents,
    manifestOf: (other) => host.library.skills().find((known) => known.name === other)?.manifest,
  });
  if (cycle) {
    const message = `Skill \`${skill.name}\` would come back to itself: ${describeCycle(cycle)}.`;
    return {
      ok: false,
      fault: { code: "agent.cycle", message, hint: "Take one of them out of an agent's `skills`." },
    };
  }
  const { agent } = found;
  const loaded = await preloadSkills(agent, (other) => host.library.getInstructions(other));
  if (!loaded.ok) return { ok: false, fault: { ...loaded, code: "agent.missing" } };
  const untrusted = host.library
    .skills()
    .find(({ name: other, trust }) => loaded.skills.includes(other) && trust.level === "untrusted");
  if (untrusted) {
    const message = `The agent \`${agent.name}\` is given the skill \`${untrusted.name}\` beforehand, which is untrusted.`;
    return { ok: false, fault: { code: "agent.missing", message, hint: untrusted.trust.reason } };
  }
  return { ok: true, agent, preloaded: loaded.text };
}
