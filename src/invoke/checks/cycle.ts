/** Is the skill running already, further out? Only the chain counts: two ways to one skill are no cycle. */
import type { Check } from "./check.ts";

export const checkCycle: Check = ({ skill: { name }, invocation: { chain = [] } }) => {
  const first = chain.indexOf(name);
  if (first < 0) return undefined;
  const path = [...chain.slice(first), name];
  return {
    reason: "cycle",
    message: `Skill \`${name}\` is running already: ${path.join(" → ")}.`,
    hint: "Finish with what you have, or use another skill.",
    data: { path },
  };
};
