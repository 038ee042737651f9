/** Trigger patterns are regular expressions. */
import { keyOf } from "../read-fields.ts";
import { showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

export const triggersRule: Rule = {
  codes: ["trigger.pattern"],
  fields: ["triggers"],
  check({ draft, fields }, report) {
    const key = keyOf(fields.known, "triggers");
    if (draft.triggers === undefined) return;
    const patterns = draft.triggers.patterns.filter((pattern) => {
      const fault = regularExpressionFault(pattern);
      if (fault === undefined) return true;
      report("trigger.pattern", `\`${key}.patterns\` has ${showValue(pattern)}: ${fault}.`, {
        key,
        hint: "Write a JavaScript regular expression; this one is left out.",
      });
      return false;
    });
    draft.triggers = { ...draft.triggers, patterns };
  },
};

function regularExpressionFault(pattern: string): string | undefined {
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}
