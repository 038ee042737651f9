/** Does this machine have what the skill requires? */
import { checkAvailability } from "../../catalog/check-availability.ts";
import { skillSettings } from "../../config/skill-settings.ts";
import { createCommandFinder } from "../../host/find-command.ts";
import type { Check } from "./check.ts";

export const checkAvailable: Check = ({ skill, loaded, host }) => {
  const { environment } = host;
  const outcome = checkAvailability(skill.manifest, {
    findCommand: createCommandFinder(environment),
    environment,
    platform: process.platform,
    settingsEnv: skillSettings(loaded.config, skill.name).env,
  });
  if (outcome.available) return undefined;
  return {
    reason: "unavailable",
    message: `Skill \`${skill.name}\` cannot be used on this machine: ${outcome.reason}.`,
    hint: "Install or set what is missing; `metier doctor` looks again.",
    data: { why: outcome.reason },
  };
};
