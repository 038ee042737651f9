/** Are the tools there that the skill requires? Asked before any model is. */
import { compileGlob } from "../../foundation/glob-pattern.ts";
import { parseToolPattern } from "../../skill/tool-pattern.ts";
import { readToolName } from "../../tools/tool-names.ts";
import { showNames, showValue } from "../../validate/report.ts";
import type { Check } from "./check.ts";

export const checkTools: Check = (subject) => {
  const { skill, execution, host } = subject;
  // Which tools a conversation has that is not ours, only its host knows.
  if (host.tools === undefined && execution === "inline") return undefined;
  const { tools = [] } = host;
  const available = [...(typeof tools === "function" ? tools(subject) : tools)].sort();
  const missing = skill.manifest.requiredTools.filter((pattern) => !isThere(pattern, available));
  if (missing.length === 0) return undefined;
  const quoted = missing.map((name) => `'${showValue(name).slice(1, -1)}'`).join(", ");
  const which =
    missing.length === 1
      ? `tool ${quoted} which is not available`
      : `tools ${quoted} which are not available`;
  return {
    reason: "tools",
    message: `Skill requires ${which}. Available: ${available.length > 0 ? showNames(available) : "none"}.`,
    hint: `Bring what is missing, or take it out of \`required-tools\` of \`${skill.name}\`.`,
    data: { missing, available },
  };
};

/** `Bash(git:*)` needs the tool alone; the names of other systems mean ours; `mcp__github` any tool of that server. */
function isThere(pattern: string, available: readonly string[]): boolean {
  const written = parseToolPattern(pattern)?.tool;
  if (written === undefined) return false;
  const { name, known } = readToolName(written, available);
  if (known !== "pattern") return available.includes(name);
  const matches = compileGlob(name);
  return available.some((tool) => matches(tool) || tool.startsWith(`${name}__`));
}
