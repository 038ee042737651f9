/** Toolsets name a module inside the skill's folder and what it exports. */
import { keyOf } from "../read-fields.ts";
import { showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

const TOOLSET = /^[^\s:]+:[A-Za-z_$][\w$]*$/;

export const toolsetsRule: Rule = {
  codes: ["toolset.malformed"],
  fields: ["toolsets"],
  check({ draft, fields }, report) {
    const key = keyOf(fields.known, "toolsets");
    draft.toolsets = draft.toolsets.filter((toolset) => {
      if (TOOLSET.test(toolset) && isInsideFolder(toolset)) return true;
      report("toolset.malformed", `\`${key}\` has ${showValue(toolset)}; it is left out.`, {
        key,
        hint: "Write a path inside the skill's folder, a colon and a name, such as `toolsets/index:Tools`.",
      });
      return false;
    });
  },
};

function isInsideFolder(path: string): boolean {
  return !/^[/\\~]/.test(path) && !path.split(/[/\\]/).includes("..");
}
