/** Does the configuration let the skill be used? Asked of the file's own manifest, so also of a shadowed skill. */
import { enablementOf } from "../../catalog/decide-enabled.ts";
import type { Check } from "./check.ts";

export const checkEnabled: Check = ({ skill, loaded }) => {
  const { name, scope, manifest } = skill;
  const why = enablementOf(loaded.config.skills)({ manifest, root: { scope } });
  if (why === undefined) return undefined;
  return {
    reason: "disabled",
    message: `Skill \`${name}\` is disabled: ${why}.`,
    hint: `\`metier enable ${name}\` enables it, where the policy allows that.`,
    data: { why },
  };
};
