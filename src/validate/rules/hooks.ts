/** Hooks can be read: events that exist, and commands for them. A run reads them the same way. */
import { readHooks } from "../read-hooks.ts";
import type { Rule } from "../rule.ts";

export const hooksRule: Rule = {
  codes: ["hook.malformed", "hook.unknown-event", "field.unknown-key"],
  fields: ["hooks"],
  check({ draft }, report) {
    if (draft.hooks !== undefined) readHooks(draft.hooks, report);
  },
};
