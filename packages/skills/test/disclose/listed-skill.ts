/** Skills of a catalog for the tests of listings: whole objects, no files. */
import type { SkillManifest } from "../../src/skill/manifest.ts";
import type { Skill } from "../../src/skill/skill.ts";

export interface Listed extends Partial<Omit<Skill, "manifest">> {
  readonly disableModelInvocation?: boolean;
}

export function listedSkill(name: string, given: Listed = {}): Skill {
  const { disableModelInvocation = false, description = `The ${name} skill.`, ...rest } = given;
  return {
    name,
    description,
    manifest: { name, description, disableModelInvocation } as SkillManifest,
    form: "directory",
    scope: "user",
    location: `/skills/${name}/SKILL.md`,
    directory: `/skills/${name}`,
    root: "/skills",
    trust: { level: "trusted", reason: "It is a test." },
    status: "enabled",
    shadows: [],
    body: { lines: 1, characters: 1 },
    diagnostics: [],
    ...rest,
  };
}
