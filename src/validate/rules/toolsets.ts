/** Toolsets name a module inside the skill's folder and what it exports. */
import { parseToolsetEntry } from "../../skill/toolset-entry.ts";
import { keyOf } from "../read-fields.ts";
import { showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

export const toolsetsRule: Rule = {
  codes: ["toolset.malformed"],
  fields: ["toolsets"],
  check({ draft, fields }, report) {
    const key = keyOf(fields.known, "toolsets");
    draft.toolsets = draft.toolsets.filter((toolset) => {
      if (parseToolsetEntry(toolset)) return true;
      report("toolset.malformed", `\`${key}\` has ${showValue(toolset)}; it is left out.`, {
        key,
        hint: "Write a path inside the skill's folder, a colon and a name, such as `toolsets/index:Tools`.",
      });
      return false;
    });
  },
};
