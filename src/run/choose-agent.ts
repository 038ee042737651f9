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
  const refused = refuseGiven(agent, loaded.skills, host);
  if (refused) return { ok: false, fault: refused };
  return { ok: true, agent, preloaded: loaded.text };
}

/** The text of a skill that is not for this model, or not trusted, must not come in by way of an agent. */
function refuseGiven(
  { name }: Agent,
  given: readonly string[],
  { library }: RunHost,
): AgentFault | undefined {
  const usable = new Map(library.skills().map((skill) => [skill.name, skill]));
  const other = given.find((skill) => usable.get(skill)?.trust.level !== "trusted");
  if (other === undefined) return undefined;
  const skill = usable.get(other);
  return {
    code: "agent.missing",
    message: `The agent \`${name}\` is given the skill \`${other}\` beforehand, which is ${skill ? "untrusted" : "not for this model"}.`,
    hint: skill?.trust.reason ?? "Take it out of the agent's `skills`.",
  };
}
