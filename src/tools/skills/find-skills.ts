/** `find_skills`: the skills that fit a task in words, for a model that cannot be told of all of them. */
import { answer, fault } from "../tool.ts";
import { answerSafely, type SkillLibrary, type SkillTool, tellSkill } from "./skill-tool.ts";

const USUAL_HITS = 5;
const MOST_HITS = 50;

export function findSkillsTool(library: SkillLibrary): SkillTool {
  return {
    name: "find_skills",
    description:
      "Finds skills by what they are for. Answers with names and descriptions as JSON, best first; call `use_skill` with the one that fits.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "A few words about the task." },
        k: {
          type: "integer",
          minimum: 1,
          maximum: MOST_HITS,
          description: `How many to answer with. Default: ${USUAL_HITS}.`,
        },
      },
      required: ["query"],
      additionalProperties: false,
    },
    effect: "read",
    async execute({ query, k }) {
      if (typeof query !== "string" || query.trim() === "") {
        return fault("`query` must be a few words about the task.");
      }
      const most = typeof k === "number" && k >= 1 ? Math.min(k, MOST_HITS) : USUAL_HITS;
      return answerSafely(async () => {
        const known = new Map(library.skills().map((skill) => [skill.name, skill]));
        // The search knows every skill, the model only those it may use: all hits, so that the others leave none out.
        const all = await library.find(query, Number.POSITIVE_INFINITY);
        const hits = all.flatMap(({ name }) => known.get(name) ?? []);
        return answer(JSON.stringify(hits.slice(0, most).map(tellSkill), undefined, 1));
      });
    },
  };
}
