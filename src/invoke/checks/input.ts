/** Is there something to do, and does the input fit the schema? */
import type { Json } from "../../skill/manifest.ts";
import type { Check } from "./check.ts";

export const checkInput: Check = ({ skill, invocation, execution, input }) => {
  const { name, manifest, location } = skill;
  if (!input.ok) {
    return {
      reason: "input",
      message: `Invalid input: ${input.message}.`,
      hint: input.isSchemaFault
        ? `Correct \`input-schema\` in \`${location || name}\`.`
        : "Send `input` as an object that fits the schema.",
      data: input.isSchemaFault ? {} : { schema: manifest.inputSchema as Json },
    };
  }
  // A person may start a skill without a word; a model that says nothing has forgotten its task.
  const isSilent = ![invocation.message, invocation.arguments].some((text) => text?.trim());
  if (execution === "inline" || invocation.source !== "model" || !isSilent || input.input !== undefined)
    return undefined;
  return {
    reason: "input",
    message: `Skill \`${name}\` runs on its own and was not told what to do: \`message\` is missing.`,
    hint: "Send `message` with the task; what it needs to know goes into `context`.",
    data: { missing: ["message"] },
  };
};
