/** Tool patterns can be read; `allowed-tools` is one line with spaces, as the specification has it. */
import { parseToolPattern } from "../../skill/tool-pattern.ts";
import { severityIn } from "../profiles.ts";
import { findGiven, keyOf } from "../read-fields.ts";
import { type Report, showValue } from "../report.ts";
import type { Rule, RuleSubject } from "../rule.ts";

export const toolsRule: Rule = {
  codes: ["tools.list", "tools.commas", "tools.malformed"],
  fields: ["allowed-tools", "disallowed-tools", "required-tools"],
  check(subject, report) {
    const { allowedTools, disallowedTools, requiredTools } = subject.draft;
    if (allowedTools !== undefined) checkPatterns(subject, "allowed-tools", allowedTools, report);
    checkPatterns(subject, "disallowed-tools", disallowedTools, report);
    checkPatterns(subject, "required-tools", requiredTools, report);
    checkForm(subject, report);
  },
};

function checkPatterns(
  { fields }: RuleSubject,
  name: string,
  patterns: readonly string[],
  report: Report,
): void {
  for (let index = 0; index < patterns.length; index++) {
    const pattern = patterns[index] ?? "";
    if (parseToolPattern(pattern) !== undefined) continue;
    const key = keyOf(fields.known, name);
    report("tools.malformed", `\`${key}\` has ${showValue(pattern)}, which matches no tool.`, {
      key,
      hint: "Write a tool's name, or a name with a scope in parentheses such as `Bash(git:*)`.",
    });
  }
}

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
