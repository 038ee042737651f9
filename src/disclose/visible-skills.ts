/** Which skills a model is told about: the enabled ones that do not forbid it, by name. */
import { compareText } from "../foundation/diagnostic.ts";
import type { Skill } from "../skill/skill.ts";

export function visibleSkills(skills: readonly Skill[]): readonly Skill[] {
  return skills
    .filter(({ status, manifest }) => status === "enabled" && !manifest.disableModelInvocation)
    .sort((a, b) => compareText(a.name, b.name));
}
