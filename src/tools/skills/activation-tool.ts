/**
 * `use_skill` for a host that runs no skills itself: the answer is the skill's instructions, for the model to follow in
 * the same conversation. Metier's own runs have a `use_skill` that can also run a skill in isolation.
 */
import type { Conversation } from "../../disclose/conversation.ts";
import { wrapInstructions } from "../../disclose/wrap-instructions.ts";
import { answer, fault } from "../tool.ts";
import { answerForSkill, type SkillLibrary, type SkillTool, skillNameSchema } from "./skill-tool.ts";

/** A skill that is in the conversation already, and unchanged, is answered with one sentence. */
export function activationTool(library: SkillLibrary, conversation: Conversation): SkillTool {
  return {
    name: "use_skill",
    description:
      "Gives you the instructions of a skill, and the names of its files for `read_skill_file`. Follow them for the task at hand.",
    inputSchema: {
      type: "object",
      properties: { skill: skillNameSchema(library) },
      required: ["skill"],
      additionalProperties: false,
    },
    effect: "skill",
    execute: (input) =>
      answerForSkill(library, input, async ({ name }) => {
        const { text, digest, manifest, origin } = await library.getInstructions(name);
        // The catalog is a snapshot; the file was read just now.
        if (manifest.disableModelInvocation)
          return fault(`The skill \`${name}\` is not for models any more.`);
        const { resources } = library.listResources(name);
        const wrapped = wrapInstructions({
          name,
          text,
          digest,
          resources,
          ...(origin !== undefined && { origin }),
        });
        return answer(conversation.activate({ name, digest }, wrapped).text);
      }),
  };
}
