/** The skills an agent is given beforehand, as text for its system prompt. */
import type { Instructions } from "../disclose/read-instructions.ts";
import { wrapInstructions } from "../disclose/wrap-instructions.ts";
import { MetierError } from "../foundation/errors.ts";
import { showValue } from "../validate/report.ts";
import type { Agent } from "./agent.ts";

type PreloadedText = Pick<Instructions, "name" | "text" | "digest" | "origin">;

/** Reads a skill anew; `undefined`, or a `MetierError`, when it cannot be used. */
export type ReadSkillInstructions = (skill: string) => Promise<PreloadedText | undefined>;

export type PreloadOutcome =
  | {
      readonly ok: true;
      /** In the agent's order; `""` when there is nothing to load. */
      readonly text: string;
      /** Whose text it is: the run's trust is at most theirs. */
      readonly skills: readonly string[];
    }
  | { readonly ok: false; readonly message: string; readonly hint: string };

/** A skill without instructions is left out; one that is missing is an error, for the agent counts on it. */
export async function preloadSkills(
  { name, skills }: Pick<Agent, "name" | "skills">,
  readInstructions: ReadSkillInstructions,
): Promise<PreloadOutcome> {
  const loaded: { readonly name: string; readonly wrapped: string }[] = [];
  for (const skill of new Set(skills)) {
    const read = await readOrReason(skill, readInstructions);
    if (typeof read === "string") {
      return {
        ok: false,
        message: `The agent \`${name}\` needs the skill ${showValue(skill)} beforehand, but ${read}`,
        hint: "Make the skill usable, or take it out of the agent's `skills`.",
      };
    }
    if (read.text.trim() !== "") loaded.push({ name: read.name, wrapped: wrapInstructions(read) });
  }
  return {
    ok: true,
    text: loaded.map(({ wrapped }) => wrapped).join("\n\n"),
    skills: loaded.map((skill) => skill.name),
  };
}

async function readOrReason(
  skill: string,
  readInstructions: ReadSkillInstructions,
): Promise<PreloadedText | string> {
  try {
    return (await readInstructions(skill)) ?? "there is no such skill.";
  } catch (error) {
    if (error instanceof MetierError) return `it cannot be read: ${error.message}`;
    throw error;
  }
}
