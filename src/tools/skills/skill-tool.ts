/** What the skill tools have in common: whom they ask, whom they answer for, and how they say that something is wrong. */

import { cleanLine } from "../../disclose/clean-text.ts";
import type { ResourceListing } from "../../disclose/list-resources.ts";
import type { Instructions } from "../../disclose/read-instructions.ts";
import type { ByteRange, ResourceContent } from "../../disclose/read-resource.ts";
import type { FindHit } from "../../find/build-finder.ts";
import { nearestNames } from "../../foundation/nearest-names.ts";
import type { Json } from "../../skill/manifest.ts";
import type { Skill } from "../../skill/skill.ts";
import { showValue } from "../../validate/report.ts";
import { fault, type Tool, type ToolInput, type ToolOutput } from "../tool.ts";

/** Needs nothing of a run, so that any host can call it: `execute(input)` is all. */
export interface SkillTool extends Tool<unknown> {
  execute(input: ToolInput): Promise<ToolOutput>;
}

/** The skills a model may use, as they are at the time of a call. */
export interface SkillLibrary {
  /** By name. Whoever is not among them does not exist for the model. */
  skills(): readonly Skill[];
  find(query: string, k?: number): Promise<readonly FindHit[]>;
  getInstructions(name: string): Promise<Instructions>;
  listResources(name: string): ResourceListing;
  readResource(name: string, path: string, options?: { readonly range?: ByteRange }): ResourceContent;
  /** Why the scan keeps a skill from being used, in words. Absent: nothing is scanned. */
  whyHeld?(skill: Skill): Promise<string | undefined>;
}

/** A larger list of names would cost more than it says; the call is checked whatever its schema says. */
const MOST_NAMES = 100;

/** The schema of a skill's name: one of those there are. */
export function skillNameSchema(library: SkillLibrary): Readonly<Record<string, Json>> {
  const names = library.skills().map(({ name }) => name);
  return {
    type: "string",
    description: "The skill's name.",
    ...(names.length <= MOST_NAMES && { enum: names }),
  };
}

/** A skill in a list for a model; that one is untrusted is said. */
export function tellSkill({ name, description, trust }: Skill): Readonly<Record<string, string>> {
  return {
    name,
    description: cleanLine(description),
    ...(trust.level === "untrusted" && { trust: trust.level }),
  };
}

/** Answers a call for one skill; every fault, also one of the host, becomes an answer the model can act on. */
export async function answerForSkill(
  library: SkillLibrary,
  input: ToolInput,
  answerFor: (skill: Skill) => ToolOutput | Promise<ToolOutput>,
): Promise<ToolOutput> {
  const skill = library.skills().find(({ name }) => name === input.skill);
  if (skill === undefined) return fault(describeMiss(library, input.skill));
  return answerSafely(async () => {
    const held = await library.whyHeld?.(skill);
    return held === undefined ? answerFor(skill) : fault(held);
  });
}

export async function answerSafely(work: () => ToolOutput | Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work();
  } catch (error) {
    return fault(error instanceof Error ? error.message : String(error));
  }
}

function describeMiss(library: SkillLibrary, asked: Json | undefined): string {
  if (typeof asked !== "string") return "`skill` must be the name of a skill.";
  const names = library.skills().map(({ name }) => name);
  const near = nearestNames(asked, names).map(showValue);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`list_skills` names those there are.";
  return `There is no skill ${showValue(asked)}. ${hint}`;
}
