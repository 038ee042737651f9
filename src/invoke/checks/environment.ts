/** Has every variable that the skill declares a value, and are such names allowed? Values are fetched later. */
import { skillSettings } from "../../config/skill-settings.ts";
import { missingVariables } from "../../secrets/run-environment.ts";
import { showNames } from "../../validate/report.ts";
import type { Check } from "./check.ts";

const SECRET_LIKE = /(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|AUTH)(?:_|$)/i;

export const checkEnvironment: Check = ({ skill, execution, loaded: { config }, given }) => {
  if (execution === "inline") return undefined;
  const { name, manifest } = skill;
  const isBlocking = config.skills.secretEnv === "block";
  const blocked = isBlocking ? manifest.env.filter((variable) => SECRET_LIKE.test(variable)) : [];
  if (blocked.length > 0) {
    return {
      reason: "environment",
      message: `Skill \`${name}\` declares ${showNames(blocked)}, which look like secrets; \`skills.secret-env\` is \`block\`.`,
      hint: "Set `skills.secret-env` to `allow` in your config if skills may have such variables.",
      data: { blocked },
    };
  }
  const { names, lines } = missingVariables({ skill, settings: skillSettings(config, name), given });
  if (names.length === 0) return undefined;
  return {
    reason: "environment",
    message: `Skill \`${name}\` needs ${showNames(names)}, for which your config has no value.`,
    hint: lines.length > 0 ? `Add to your config:\n${lines.join("\n")}` : "Give the values with the call.",
    data: { missing: names, lines },
  };
};
