/** The JSON form of a skill in `list` and `show`. */
import type { RemoteOrigin, Skill } from "../../skill/skill.ts";

export interface SkillJson {
  readonly name: string;
  readonly description: string;
  readonly version?: string;
  readonly scope: string;
  readonly status: string;
  readonly reason?: string;
  readonly trust: string;
  readonly location: string;
  /** Of a skill that an MCP server offers. */
  readonly remote?: Pick<RemoteOrigin, "server" | "uri" | "digest">;
  readonly shadows?: Skill["shadows"];
  readonly shadowedBy?: NonNullable<Skill["shadowedBy"]>;
}

export function skillJson(skill: Skill): SkillJson {
  const { name, description, manifest, scope, status, reason, trust, location, shadows, shadowedBy } = skill;
  const { remote } = skill;
  return {
    name,
    description,
    ...(manifest.version !== undefined && { version: manifest.version }),
    scope,
    status,
    ...(reason !== undefined && { reason }),
    trust: trust.level,
    location,
    ...(remote && { remote: { server: remote.server, uri: remote.uri, digest: remote.digest } }),
    ...(shadows.length > 0 && { shadows }),
    ...(shadowedBy && { shadowedBy }),
  };
}
