/** The tool policy of one run: the lists of its skill and its agent, the config, and what its caller may do. */
import type { Agent } from "../agents/agent.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { createGrowingPolicy, type GrowingPolicy } from "./growing-policy.ts";
import type { RunHost } from "./run-host.ts";
import type { RunRequest } from "./run-request.ts";
import { programTools } from "./run-tools.ts";

export interface RunPolicyInput {
  readonly prepared: PreparedInvocation;
  readonly host: RunHost;
  readonly request: Pick<RunRequest, "tools">;
  readonly memory: ConversationMemory;
  readonly cwd: string;
  /** Names of the tools that the skill brings; absent: not known. */
  readonly ownTools?: readonly string[];
  readonly agent?: Agent;
  readonly outer?: ToolPolicy;
}

export function createRunPolicy(input: RunPolicyInput): GrowingPolicy {
  const { prepared, host, request, memory, cwd, ownTools, agent, outer } = input;
  const { tools, policyTools, skills } = host.config().config;
  return createGrowingPolicy({
    lists: [skillLists(prepared, ownTools), ...(agent ? [agentLists(agent)] : [])],
    config: tools,
    policy: policyTools,
    cwd,
    isPreApprovalStopped: () => memory.trust.taintedBy !== undefined,
    unapproved: () => (isUnapproved(prepared) ? prepared.skill.name : memory.trust.unapproved),
    hostTools: programTools(host, request).map(({ name }) => name),
    isBare: !skills.namespaceTools,
    ...(outer && { outer }),
  });
}

/** It comes from an MCP server, and nobody said yes to what it executes. */
function isUnapproved({ skill, trust }: PreparedInvocation): boolean {
  return skill.remote !== undefined && !trustAllows(trust.level, "execute-from-server");
}

export function skillLists(
  { skill, trust, execution }: PreparedInvocation,
  ownTools?: readonly string[],
): ToolLists {
  const { allowedTools, disallowedTools, requiredTools, toolsets } = skill.manifest;
  const tools = toolsets.length === 0 ? [] : ownTools;
  return {
    owner: `skill \`${skill.name}\``,
    path: skill.location,
    trust: trust.level,
    isIsolated: execution === "isolated",
    ...(allowedTools && { allowedTools }),
    requiredTools,
    disallowedTools,
    own: { skill: skill.name, ...(tools && { tools }) },
  };
}

/** Of a skill whose instructions are followed inside of a run: they deny, and never allow more than the run has. */
export function followedLists(prepared: PreparedInvocation): ToolLists {
  return { ...skillLists(prepared), allowedTools: [] };
}

/** They hold beside those of the skill. */
function agentLists({ name, location, trust, tools, disallowedTools }: Agent): ToolLists {
  return {
    owner: `agent \`${name}\``,
    path: location,
    trust: trust.level,
    isIsolated: true,
    ...(tools && { allowedTools: tools }),
    requiredTools: [],
    disallowedTools,
  };
}
