/** Are too many skills running inside one another? */
import type { Check } from "./check.ts";

export const DEFAULT_MAX_DEPTH = 3;

export const checkDepth: Check = ({ skill, invocation: { chain = [] }, host }) => {
  const { maxDepth = DEFAULT_MAX_DEPTH } = host;
  if (chain.length < maxDepth) return undefined;
  return {
    reason: "depth",
    message: `Skill \`${skill.name}\` would be number ${chain.length + 1} in ${[...chain, skill.name].join(" → ")}; at most ${maxDepth} skills run inside one another.`,
    hint: "Do the task without another skill, or leave it to the caller.",
    data: { limit: maxDepth, chain },
  };
};
