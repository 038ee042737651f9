/** The status of a skill that won its name: disabled by configuration, unavailable on this machine, or enabled. */
import type { Config } from "../config/config.ts";
import { skillVariables } from "../config/skill-settings.ts";
import { createCommandFinder } from "../host/find-command.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import type { SkillStatus } from "../skill/skill.ts";
import { MANIFEST_DEFAULTS } from "../validate/build-manifest.ts";
import { type Availability, checkAvailability } from "./check-availability.ts";
import { enablementOf } from "./decide-enabled.ts";
import type { PlacedSkill } from "./placed-skill.ts";

export interface StatusInputs {
  readonly config: Config;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface StatusDecision {
  readonly status: SkillStatus;
  readonly reason?: string;
  /** What the free text of `compatibility` suggests is missing: worth knowing, decides nothing. */
  readonly hints: readonly string[];
}

export type DecideStatus = (skill: PlacedSkill) => StatusDecision;

/** Commands are looked up once per name for all skills together. */
export function statusDecider({ config, environment }: StatusInputs): DecideStatus {
  const disabledReason = enablementOf(config.skills);
  const findCommand = createCommandFinder(environment);
  const check = (manifest: SkillManifest): Availability =>
    checkAvailability(manifest, {
      findCommand,
      environment,
      platform: process.platform,
      settingsEnv: skillVariables(config, manifest.name),
    });
  /** Of skills without requirements, by the text of `compatibility`: only that counts, and many share it. */
  const undemanding = new Map<string | undefined, Availability>();
  const availabilityOf = (manifest: SkillManifest): Availability => {
    if (manifest.requires !== MANIFEST_DEFAULTS.requires) return check(manifest);
    const known = undemanding.get(manifest.compatibility) ?? check(manifest);
    undemanding.set(manifest.compatibility, known);
    return known;
  };
  return (skill) => {
    const disabled = disabledReason(skill);
    if (disabled !== undefined) return { status: "disabled", reason: disabled, hints: [] };
    const outcome = availabilityOf(skill.manifest);
    const { hints } = outcome;
    return outcome.available
      ? { status: "enabled", hints }
      : { status: "unavailable", reason: outcome.reason, hints };
  };
}
