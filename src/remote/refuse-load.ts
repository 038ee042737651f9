/** Why a skill of an MCP server cannot be used now, as the error that readers of skills expect. */
import { RemoteSkillError } from "../foundation/errors.ts";
import type { Skill } from "../skill/skill.ts";
import { remoteLocation } from "../trust/remote-trust.ts";
import type { Readiness } from "./ready-skill.ts";

const MOST_TOLD = 5;

export function refuseLoad(
  { name, location, remote }: Pick<Skill, "name" | "location" | "remote">,
  readiness: Exclude<Readiness, { readonly kind: "ready" }>,
): RemoteSkillError {
  const path = remote ? remoteLocation(remote) : location;
  if (readiness.kind === "changed") {
    return new RemoteSkillError(name, path, "its server has just changed it.", [], { hint: "Use it again." });
  }
  const { diagnostics } = readiness;
  const told = diagnostics.slice(0, MOST_TOLD).map(({ message }) => message);
  const more = diagnostics.length - told.length;
  const reason = [...told, ...(more > 0 ? [`And ${more} more.`] : [])].join(" ");
  return new RemoteSkillError(name, path, reason, diagnostics, { hint: diagnostics[0]?.hint });
}
