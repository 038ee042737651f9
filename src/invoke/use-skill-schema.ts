/** `use_skill` as a model is told of it: the names it may use, and what each part of a call is for. */
import { visibleSkills } from "../disclose/visible-skills.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";

export interface UseSkillSchema {
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, Json>>;
}

/** A longer list of names would cost more than it says; each call is checked in any case. */
const MOST_NAMES = 200;

/** `undefined` when there is no skill a model may use: then there is no such tool. */
export function useSkillSchema(skills: readonly Skill[]): UseSkillSchema | undefined {
  const names = visibleSkills(skills).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const isListed = names.length <= MOST_NAMES;
  const which = isListed
    ? `Skills: ${names.join(", ")}.`
    : `There are ${names.length} skills; \`find_skills\` finds the one that fits.`;
  return {
    description: `Uses a skill: gives you its instructions to follow, or carries them out and gives you the result. ${which}`,
    inputSchema: {
      type: "object",
      properties: {
        skill: {
          type: "string",
          description: isListed ? "The skill's name." : "The skill's name, as `find_skills` gives it.",
          ...(isListed && { enum: names }),
        },
        message: { type: "string", description: "The task, in words." },
        context: {
          type: "string",
          description: "What the skill needs to know of this conversation, in short; it does not see it.",
        },
        arguments: {
          type: "string",
          description: "Arguments as on a command line, where the skill takes such.",
        },
        input: {
          type: "object",
          description: "An object that fits the skill's input schema, where it has one.",
        },
      },
      required: ["skill"],
      additionalProperties: false,
    },
  };
}
