/** Policies for tests: one list of a trusted, isolated skill unless a test says otherwise. */
import type { ToolLists } from "../../src/tools/policy-rules.ts";
import type { ToolEffect, ToolInput } from "../../src/tools/tool.ts";
import {
  createToolPolicy,
  type PolicyDecision,
  type ToolPolicy,
  type ToolPolicyOptions,
} from "../../src/tools/tool-policy.ts";

export function lists(given: Partial<ToolLists> = {}): ToolLists {
  return {
    owner: "skill `demo`",
    path: "/skills/demo/SKILL.md",
    trust: "trusted",
    isIsolated: true,
    requiredTools: [],
    disallowedTools: [],
    ...given,
  };
}

export function policy(given: Partial<ToolPolicyOptions> = {}): ToolPolicy {
  return createToolPolicy({ lists: [], config: {}, policy: {}, cwd: "/project", ...given });
}

const EFFECTS: Readonly<Record<string, ToolEffect>> = {
  bash: "execute",
  run_script: "execute",
  write_file: "write",
  edit_file: "write",
  web_fetch: "network",
  web_search: "network",
  use_skill: "skill",
  read_skill_file: "skill",
  ask_user: "talk",
};

export function decide(
  { decide }: ToolPolicy,
  tool: string,
  input: ToolInput | string = {},
): Promise<PolicyDecision> {
  const given = typeof input === "string" ? { [tool === "bash" ? "command" : "path"]: input } : input;
  return decide(tool, EFFECTS[tool] ?? "read", given);
}

export async function answerTo(
  decider: ToolPolicy,
  tool: string,
  input: ToolInput | string = {},
): Promise<PolicyDecision["answer"]> {
  return (await decide(decider, tool, input)).answer;
}

/** The names that are visible of all given ones. */
export function visibleOf({ visible }: ToolPolicy, names: readonly string[]): readonly string[] {
  return visible(names.map((name) => ({ name }))).map(({ name }) => name);
}
