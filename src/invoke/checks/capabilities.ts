/** Can the host perform what the skill declares, for this caller? Declared means enforced: nobody to ask means no. */
import { showNames } from "../../validate/report.ts";
import type { Check } from "./check.ts";

export const checkCapabilities: Check = async ({ skill, execution, invocation: { caller }, host }) => {
  const ids = skill.manifest.capabilities;
  if (ids.length === 0 || execution === "inline") return undefined;
  const needs = `Skill \`${skill.name}\` needs ${showNames(ids)}`;
  if (host.capabilities === undefined) {
    return {
      reason: "capabilities",
      message: `${needs}, and this version has no capability providers yet.`,
      hint: "The skill can be read (`metier show`), but not run; one without `capabilities` can.",
      data: { capabilities: ids },
    };
  }
  if (!caller.userId?.trim()) {
    return {
      reason: "capabilities",
      message: `${needs}, which are performed for a user, and it is not known who asks.`,
      hint: "A program says who asks with `userId`, the command line with `--user`.",
      data: { capabilities: ids },
    };
  }
  const cause = await host.capabilities(ids, caller);
  return cause && { reason: "capabilities", ...cause };
};
