/**
 * Does the skill ask for what only a trusted one gets, and cannot do without it? A fork, and the values of the variables
 * it declares: it would run with less than it says it needs. What it merely loses (`report-fields.ts`) refuses nothing.
 */
import { skillSettings } from "../../config/skill-settings.ts";
import { trustAllows } from "../../trust/trust-policy.ts";
import { showNames } from "../../validate/report.ts";
import type { RefusalCause } from "../invocation.ts";
import type { Check, CheckSubject } from "./check.ts";

export const checkTrust: Check = (subject) => {
  const { skill, execution, trust } = subject;
  const isForking = skill.manifest.context === "fork" && !trustAllows(trust.level, "fork-by-own-word");
  const declared = execution === "isolated" ? skill.manifest.env : [];
  const withheld = trustAllows(trust.level, "receive-secrets") ? [] : declared;
  if (!isForking && withheld.length === 0) return refuseUserValues(subject, declared);
  const needs = [
    ...(isForking ? ["`context: fork`"] : []),
    ...(withheld.length > 0 ? [`the variables ${showNames(withheld)}`] : []),
  ];
  return {
    reason: "trust",
    message: `Skill \`${skill.name}\` is untrusted here and asks for ${needs.join(" and ")}, which needs trust. ${trust.reason}`,
    hint: trust.hint,
    data: { needs: [...(isForking ? ["fork"] : []), ...withheld], why: trust.reason },
  };
};

/** The program that embeds us vouches for a project's skills, but the values in the user's config are the user's. */
function refuseUserValues(
  { skill, userValues, loaded, given }: CheckSubject,
  declared: readonly string[],
): RefusalCause | undefined {
  if (trustAllows(userValues.level, "receive-user-values")) return undefined;
  const { env } = skillSettings(loaded.config, skill.name);
  const users = declared.filter((name) => Object.hasOwn(env, name) && !Object.hasOwn(given, name));
  if (users.length === 0) return undefined;
  return {
    reason: "trust",
    message: `Skill \`${skill.name}\` is a project's, and asks for ${showNames(users)} of your config, which needs your grant. ${userValues.reason}`,
    hint: `Read it with \`metier read ${skill.name}\`, then trust its project with \`metier trust\`.`,
    data: { needs: users, why: userValues.reason },
  };
}
