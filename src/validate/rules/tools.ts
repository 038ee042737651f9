/** Tool patterns can be read; `allowed-tools` is one line with spaces, as the specification has it. */
import { parseToolPattern } from "../../skill/tool-pattern.ts";
import { severityIn } from "../profiles.ts";
import { findGiven } from "../read-fields.ts";
import { type Report, showValue } from "../report.ts";
import type { Rule, RuleSubject } from "../rule.ts";

const TOOL_FIELDS = [
  { name: "allowed-tools", property: "allowedTools" },
  { name: "disallowed-tools", property: "disallowedTools" },
  { name: "required-tools", property: "requiredTools" },
] as const;

export const toolsRule: Rule = {
  codes: ["tools.list", "tools.commas", "tools.malformed"],
  fields: TOOL_FIELDS.map(({ name }) => name),
  check(subject, report) {
    const { draft, fields } = subject;
    for (const { name, property } of TOOL_FIELDS) {
      const key = findGiven(fields.known, name)?.key;
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

function checkForm({ draft, fields, profile }: RuleSubject, report: Report): void {
  if (severityIn(profile, "tools.list") === "off" && severityIn(profile, "tools.commas") === "off") return;
  const given = findGiven(fields.known, "allowed-tools");
  if (given === undefined || draft.allowedTools === undefined) return;
  const { key, value } = given;
  const line = draft.allowedTools.join(" ");
  const hint = `Write \`${key}: ${line}\`.`;
  if (Array.isArray(value)) {
    report("tools.list", `\`${key}\` is a list; the specification has one line.`, { key, hint });
  } else if (typeof value === "string" && countCommas(value) > countCommas(line)) {
    report("tools.commas", `\`${key}\` has commas; the specification has spaces between tools.`, {
      key,
      hint,
    });
  }
}

function countCommas(text: string): number {
  return text.split(",").length - 1;
}
