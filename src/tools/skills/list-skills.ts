/** `list_skills`: the names and descriptions of the skills a model may use, as a JSON list. */
import { answer } from "../tool.ts";
import { type SkillLibrary, type SkillTool, tellSkill } from "./skill-tool.ts";

/** In one answer. */
const MOST_LISTED = 100;

/** Without skills the list is empty, which is no fault. */
export function listSkillsTool(library: SkillLibrary): SkillTool {
  const total = library.skills().length;
  const pages =
    total > MOST_LISTED
      ? ` There are ${total}; a call gives ${MOST_LISTED} of them, from \`offset\` on.`
      : "";
  return {
    name: "list_skills",
    description: `Lists the skills you can use, with what each is for, as JSON.${pages}`,
    inputSchema: {
      type: "object",
      properties: {
        offset: { type: "integer", minimum: 0, description: "How many skills to pass over. Default: 0." },
      },
      additionalProperties: false,
    },
    effect: "read",
    async execute({ offset }) {
      const first = typeof offset === "number" ? Math.max(0, offset) : 0;
      const page = library.skills().slice(first, first + MOST_LISTED);
      return answer(JSON.stringify(page.map(tellSkill), undefined, 1));
    },
  };
}
