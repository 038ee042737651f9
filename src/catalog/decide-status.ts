/** The status of a skill that won its name: disabled by configuration, unavailable on this machine, or enabled. */
import type { Config } from "../config/config.ts";
import { skillSettings } from "../config/skill-settings.ts";
import { createCommandFinder } from "../host/find-command.ts";
import type { SkillStatus } from "../skill/skill.ts";
import { checkAvailability } from "./check-availability.ts";
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
  return (skill) => {
    const disabled = disabledReason(skill);
    if (disabled !== undefined) return { status: "disabled", reason: disabled, hints: [] };
    const { manifest } = skill;
    const settingsEnv = skillSettings(config, manifest.name).env;
    const outcome = checkAvailability(manifest, {
      findCommand,
      environment,
      platform: process.platform,
      settingsEnv,
    });
    const { hints } = outcome;
    return outcome.available
      ? { status: "enabled", hints }
      : { status: "unavailable", reason: outcome.reason, hints };
  };
}
