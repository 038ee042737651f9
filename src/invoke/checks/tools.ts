/** Are the tools there that the skill requires? Asked before any model is. */
import { compileGlob } from "../../foundation/glob-pattern.ts";
import type { Skill } from "../../skill/skill.ts";
import { parseToolPattern } from "../../skill/tool-pattern.ts";
import { readToolName } from "../../tools/tool-names.ts";
import { trustAllows } from "../../trust/trust-policy.ts";
import { showNames, showValue } from "../../validate/report.ts";
import type { RefusalCause } from "../invocation.ts";
import type { Check } from "./check.ts";

export const checkTools: Check = (subject) => {
  const { skill, execution, host, trust } = subject;
  // Which tools a conversation has that is not ours, only its host knows.
  if (host.tools === undefined && execution === "inline") return undefined;
  // What its toolsets bring is known once they are loaded; the run asks again then.
  const bringsTools = execution === "isolated" && skill.manifest.toolsets.length > 0;
  if (bringsTools && trustAllows(trust.level, "load-toolsets")) return undefined;
  const { tools = [] } = host;
  return refuseMissingTools(skill, typeof tools === "function" ? tools(subject) : tools);
};

/** `tools`: all names by which tools that are there can be required. */
export function refuseMissingTools(
  skill: Pick<Skill, "name" | "manifest">,
  tools: readonly string[],
): RefusalCause | undefined {
  const available = tools.toSorted();
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
}

/** `Bash(git:*)` needs the tool alone; the names of other systems mean ours; `mcp__github` any tool of that server. */
function isThere(pattern: string, available: readonly string[]): boolean {
  const written = parseToolPattern(pattern)?.tool;
  if (written === undefined) return false;
  const { name, known } = readToolName(written, available);
  if (known !== "pattern") return available.includes(name);
  const matches = compileGlob(name);
  return available.some((tool) => matches(tool) || tool.startsWith(`${name}__`));
}
