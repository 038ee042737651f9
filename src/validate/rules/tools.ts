/** Tool patterns can be read; `allowed-tools` is one line with spaces, as the specification has it. */
import { parseToolPattern } from "../../skill/tool-pattern.ts";
import { type Report, showValue } from "../report.ts";
import type { Rule, RuleSubject } from "../rule.ts";

const TOOL_FIELDS = [
  ["allowed-tools", "allowedTools"],
  ["disallowed-tools", "disallowedTools"],
  ["required-tools", "requiredTools"],
] as const;

export const toolsRule: Rule = {
  codes: ["tools.list", "tools.commas", "tools.malformed"],
  check(subject, report) {
    const { draft, fields } = subject;
    for (const [name, property] of TOOL_FIELDS) {
      const key = fields.known.get(name)?.key;
      if (key === undefined) continue;
      for (const pattern of draft[property] ?? []) {
        if (parseToolPattern(pattern) !== undefined) continue;
        report("tools.malformed", `\`${key}\` has ${showValue(pattern)}, which matches no tool.`, {
          key,
          hint: "Write a tool's name, or a name with a scope in parentheses such as `Bash(git:*)`.",
        });
      }
    }
    checkForm(subject, report);
  },
};

function checkForm({ draft, fields }: RuleSubject, report: Report): void {
  const given = fields.known.get("allowed-tools");
  if (given === undefined || draft.allowedTools === undefined) return;
  const { key, value } = given;
  const hint = `Write \`${key}: ${draft.allowedTools.join(" ")}\`.`;
  if (Array.isArray(value)) {
    report("tools.list", `\`${key}\` is a list; the specification has one line.`, { key, hint });
  } else if (typeof value === "string" && countCommas(value) > countCommas(draft.allowedTools.join(" "))) {
    report("tools.commas", `\`${key}\` has commas; the specification has spaces between tools.`, {
      key,
      hint,
    });
  }
}

function countCommas(text: string): number {
  return text.split(",").length - 1;
}
