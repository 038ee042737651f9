/** The JSON form of a skill in `list` and `show`. */
import type { Skill } from "../../skill/skill.ts";

export interface SkillJson {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly scope: string;
  readonly status: string;
  readonly reason?: string;
  readonly trust: string;
  readonly location: string;
  readonly shadows?: Skill["shadows"];
  readonly shadowedBy?: NonNullable<Skill["shadowedBy"]>;
}

export function skillJson(skill: Skill): SkillJson {
  const { name, description, manifest, scope, status, reason, trust, location, shadows, shadowedBy } = skill;
  return {
    name,
    description,
    ...(manifest.version !== undefined && { version: manifest.version }),
    scope,
    status,
    ...(reason !== undefined && { reason }),
    trust: trust.level,
    location,
    ...(shadows.length > 0 && { shadows }),
    ...(shadowedBy && { shadowedBy }),
  };
}
