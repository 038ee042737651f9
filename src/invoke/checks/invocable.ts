/** May it be invoked from this source? The two flags block their own source and no other; code is always permitted. */
import type { Check } from "./check.ts";

export const checkInvocable: Check = ({ skill, invocation: { source } }) => {
  const { name, manifest } = skill;
  const blocked =
    (source === "model" && manifest.disableModelInvocation && "disable-model-invocation: true") ||
    (source === "user" && !manifest.userInvocable && "user-invocable: false");
  if (!blocked) return undefined;
  return {
    reason: "not-invocable",
    message: `Skill \`${name}\` cannot be invoked by a ${source}: it says \`${blocked}\`.`,
    hint:
      source === "model"
        ? `Ask the user to start it, for example with \`/${name}\`.`
        : "It is for models; describe the task, and the model may use it.",
    data: { source, flag: blocked },
  };
};
