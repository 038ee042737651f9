/**
 * Tools that belong to a skill, beside those of other skills: `skill:tool` is what people read, and a name that every
 * provider takes is what models call. Both stand in the tool, so that either leads to the other.
 */
import { createHash } from "node:crypto";
import type { Tool } from "./tool.ts";

export interface OwnedTool extends Tool<unknown> {
  /** `pdf:extract`; the tool's own name where names are not told apart by skill. */
  readonly id: string;
  readonly skill: string;
}

/** What providers agree on. */
const MAX_NAME = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;
const DIGEST_LENGTH = 8;

/** The tool under the name of its skill; everything else of it is as it was. */
export function ownTool(skill: string, tool: Tool<unknown>): OwnedTool {
  const id = `${skill}:${tool.name}`;
  return {
    id,
    skill,
    name: exportedName(id),
    description: tool.description,
    inputSchema: tool.inputSchema,
    effect: tool.effect,
    execute: (input, context) => tool.execute(input, context),
  };
}

/**
 * Every name that means the tool with this id: the id, what models call it, and its own name for whoever knows which
 * skill is meant. A tool of no skill has one.
 */
export function namesOf(id: string, isSkillKnown: (skill: string) => boolean): readonly string[] {
  const colon = id.lastIndexOf(":");
  if (colon < 0) return [id];
  return [id, exportedName(id), ...(isSkillKnown(id.slice(0, colon)) ? [id.slice(colon + 1)] : [])];
}

/** A name that had to be changed carries a digest of what it stands for: two tools never become one. */
function exportedName(id: string): string {
  const colon = id.lastIndexOf(":");
  const wanted = `${id.slice(0, colon)}__${id.slice(colon + 1)}`;
  const name = wanted.replace(FORBIDDEN, "_");
  if (name === wanted && name.length <= MAX_NAME) return name;
  const digest = createHash("sha256").update(id).digest("hex").slice(0, DIGEST_LENGTH);
  return `${name.slice(0, MAX_NAME - DIGEST_LENGTH - 1)}_${digest}`;
}
