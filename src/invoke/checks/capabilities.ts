/**
 * Can the host perform what the skill declares, for this caller? Declared means enforced: nobody to ask means no. A sign-in
 * that is missing refuses nothing, since the skill is what begins it.
 */
import { trustAllows } from "../../trust/trust-policy.ts";
import { showNames } from "../../validate/report.ts";
import type { Check } from "./check.ts";

export const checkCapabilities: Check = async (subject) => {
  const { skill, execution, trust, invocation, host } = subject;
  const ids = skill.manifest.capabilities;
  if (ids.length === 0 || execution === "inline") return undefined;
  const needs = `Skill \`${skill.name}\` needs ${showNames(ids)}`;
  const data = { capabilities: ids };
  if (!trustAllows(trust.level, "use-capabilities")) {
    return {
      reason: "capabilities",
      message: `${needs}, which only a trusted skill may use. ${trust.reason}`,
      hint: trust.hint,
      data: { ...data, why: trust.reason },
    };
  }
  if (host.capabilities === undefined) {
    return {
      reason: "capabilities",
      message: `${needs}, and nobody performs capabilities here.`,
      hint: "The skill can be read (`metier show`), but not run here; one without `capabilities` can.",
      data,
    };
  }
  if (!invocation.caller.userId?.trim()) {
    return {
      reason: "capabilities",
      message: `${needs}, which are performed for a user, and it is not known who asks.`,
      hint: "A program says who asks with `userId`, the command line with `--user`.",
      data,
    };
  }
  const cause = await host.capabilities(ids, invocation.caller);
  return cause && { reason: "capabilities", ...cause };
};
