/**
 * The tool policy of one turn of a chat: the config, and the lists of the skills and commands that were put into the
 * conversation since the user's last message. They pre-approve and deny; they never restrict the user's own tools.
 */
import type { ToolPolicy, ToolPolicyOptions } from "../tools/tool-policy.ts";
import { createGrowingPolicy, type GrowingPolicy } from "./growing-policy.ts";

export interface ChatPolicy extends GrowingPolicy {
  /** What it denies is denied to the skills that are run from here; what it would ask, they decide by their own. */
  readonly forRuns: ToolPolicy;
}

export function createChatPolicy(options: ToolPolicyOptions): ChatPolicy {
  const policy = createGrowingPolicy(options);
  const forRuns: ToolPolicy = {
    diagnostics: [],
    visible: (tools) => policy.visible(tools),
    async decide(tool, effect, input) {
      const decision = await policy.decide(tool, effect, input);
      return decision.answer === "deny" ? decision : { answer: "allow", rule: decision.rule };
    },
  };
  return Object.assign(policy, { forRuns });
}
