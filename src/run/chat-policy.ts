/**
 * The tool policy of one turn of a chat: the config, and the lists of the skills and commands that were put into the
 * conversation since the user's last message. They pre-approve and deny; they never restrict the user's own tools.
 */
import type { ToolLists } from "../tools/policy-lists.ts";
import { createToolPolicy, type ToolPolicy, type ToolPolicyOptions } from "../tools/tool-policy.ts";

export interface ChatPolicy extends ToolPolicy {
  /** From now on these count too. */
  activate(lists: ToolLists): void;
  /** What it denies is denied to the skills that are run from here; what it would ask, they decide by their own. */
  readonly forRuns: ToolPolicy;
}

export function createChatPolicy(options: ToolPolicyOptions): ChatPolicy {
  let { lists } = options;
  let current = createToolPolicy(options);
  const policy: ToolPolicy = {
    get diagnostics() {
      return current.diagnostics;
    },
    visible: (tools) => current.visible(tools),
    decide: (tool, effect, input) => current.decide(tool, effect, input),
  };
  return {
    ...policy,
    get diagnostics() {
      return current.diagnostics;
    },
    activate(more) {
      lists = [...lists, more];
      current = createToolPolicy({ ...options, lists });
    },
    forRuns: {
      ...policy,
      diagnostics: [],
      async decide(tool, effect, input) {
        const decision = await policy.decide(tool, effect, input);
        return decision.answer === "deny" ? decision : { answer: "allow", rule: decision.rule };
      },
    },
  };
}
