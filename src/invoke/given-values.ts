/**
 * The values for a skill's variables that are the caller's to give: those of this one call, and those the embedding
 * program has set in its own options. They need no grant of the user, whose config they do not come from.
 */
import type { LoadedConfig } from "../config/config.ts";
import { formatKeyPath } from "../config/key-path.ts";
import { skillSettings } from "../config/skill-settings.ts";
import type { Skill } from "../skill/skill.ts";

export function givenValues(
  { name, manifest }: Skill,
  { config, origins }: Pick<LoadedConfig, "config" | "origins">,
  ofThisCall: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const { env } = skillSettings(config, name);
  const fromProgram = manifest.env.flatMap((variable) => {
    const configured = Object.hasOwn(env, variable) ? env[variable] : undefined;
    const origin = origins.get(formatKeyPath(["skills", name, variable]));
    const isProgram = origin?.layer === "option" && configured !== undefined && "value" in configured;
    return isProgram ? [[variable, configured.value] as const] : [];
  });
  return { ...Object.fromEntries(fromProgram), ...ofThisCall };
}
