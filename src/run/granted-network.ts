/** The domains a run may reach: what the user's config grants, narrowed by what the skill declares and by its caller. */
import type { Config } from "../config/config.ts";
import { commonDomains } from "../config/tightening.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";

export function grantedNetwork(
  trust: Trust,
  { sandbox }: Pick<Config, "sandbox">,
  declared: SkillManifest["sandbox"],
  caller: readonly string[] | undefined,
): readonly string[] {
  if (!trustAllows(trust, "use-network")) return [];
  const own = declared ? commonDomains(sandbox.network, declared.network) : sandbox.network;
  return caller ? commonDomains(own, caller) : own;
}
