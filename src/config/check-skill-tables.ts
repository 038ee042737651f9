/** `[skills.<name>]` tables that name no skill that was found: likely a typing mistake, so one warning each. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import type { LoadedConfig, Origin } from "./config.ts";
import { formatKeyPath, parseKeyPath } from "./key-path.ts";

export function checkSkillTables(
  { config, origins }: Pick<LoadedConfig, "config" | "origins">,
  skillNames: ReadonlySet<string>,
): readonly Diagnostic[] {
  const unknown = new Map<string, Origin>();
  for (const [key, origin] of origins) {
    const [section, name = ""] = parseKeyPath(key) ?? [];
    const isSkill = section === "skills" && name in config.skills.settings;
    if (isSkill && !skillNames.has(name) && !unknown.has(name)) unknown.set(name, origin);
  }
  return [...unknown].map(([name, origin]) => report(name, origin, skillNames));
}

function report(name: string, { where = "", line }: Origin, skillNames: ReadonlySet<string>): Diagnostic {
  const [near] = nearestNames(name, skillNames, 1);
  return {
    code: "config.unknown-skill",
    severity: "warning",
    message: `\`[${formatKeyPath(["skills", name])}]\` names no skill that was found.`,
    path: where,
    ...(line !== undefined && { line }),
    hint: near ? `Did you mean \`${near}\`?` : "Correct the name, or remove the table.",
  };
}
