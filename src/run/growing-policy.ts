/** A tool policy to which the lists of skills are added as their instructions come into the conversation. */
import type { ToolLists } from "../tools/policy-lists.ts";
import { createToolPolicy, type ToolPolicy, type ToolPolicyOptions } from "../tools/tool-policy.ts";

export interface GrowingPolicy extends ToolPolicy {
  /** From now on these count too. */
  activate(lists: ToolLists): void;
}

export function createGrowingPolicy(options: ToolPolicyOptions): GrowingPolicy {
  let { lists } = options;
  let current = createToolPolicy(options);
  return {
    get diagnostics() {
      return current.diagnostics;
    },
    visible: (tools) => current.visible(tools),
    decide: (tool, effect, input) => current.decide(tool, effect, input),
    activate(more) {
      lists = [...lists, more];
      current = createToolPolicy({ ...options, lists });
    },
  };
}
