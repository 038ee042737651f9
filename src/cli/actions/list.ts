/** `metier list`: what is there, where it comes from, whether it can be used and why not. */
import type { Scope } from "../../skill/scope.ts";
import type { Skill } from "../../skill/skill.ts";
import { askForTrust } from "../ask-for-trust.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, err, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { listText, problemsText, summaryText } from "../output/list-text.ts";
import { skillJson } from "../output/skill-json.ts";
import { styleFor } from "../output/style.ts";

interface ListFlags {
  readonly usable?: boolean;
  readonly scope?: Scope;
}

export async function run(context: CliContext, flags: ListFlags & CommonFlags): Promise<void> {
  const metier = await askForTrust(context, flags, await openMetier(context, flags));
  const { all, diagnostics } = metier.catalog;
  const skills = all.filter((skill) => isWanted(skill, flags));
  if (flags.json) {
    outJson(context, { skills: skills.map(skillJson), diagnostics });
    return;
  }
  const style = styleFor(context.io.color);
  if (skills.length > 0) out(context, `${listText(skills, style)}\n`);
  out(context, skills.length > 0 ? summaryText(skills) : nothingText(all.length));
  err(context, problemsText(diagnostics, style));
}

/** `metier skill manage list`: the installed skills alone. */
export function runInstalled(context: CliContext, flags: CommonFlags): Promise<void> {
  return run(context, { ...flags, scope: "installed" });
}

function isWanted(skill: Skill, { usable, scope }: ListFlags): boolean {
  return (!usable || skill.status === "enabled") && (scope === undefined || skill.scope === scope);
}

function nothingText(others: number): string {
  if (others > 0) return "No skill matches; `metier list` shows all of them.";
  return "No skills were found. `metier doctor` lists every directory that was searched; `metier new <name>` creates one.";
}
