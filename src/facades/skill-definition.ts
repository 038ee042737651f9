/** A skill in one object, metadata and instructions, as other systems hand it around. */
import type { Instructions } from "../disclose/read-instructions.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";

export interface SkillDefinition {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  /** The skill file; absent for a skill given as an object. */
  readonly skillPath?: string;
  readonly authors: readonly string[];
  readonly rationale?: string;
  /** Names of variables that its runs are given from the config. */
  readonly env: readonly string[];
  readonly packages: readonly string[];
  readonly capabilities: readonly string[];
  /** Empty: all tools. */
  readonly allowedTools: readonly string[];
  readonly requiredTools: readonly string[];
  readonly inputSchema?: Readonly<Record<string, Json>>;
  readonly model?: string;
  readonly maxIterations: number;
}

export function defineSkill(
  { name, location }: Skill,
  { text, manifest }: Instructions,
  usualIterations: number,
): SkillDefinition {
  const { description, authors, env, packages, capabilities, requiredTools } = manifest;
  const { rationale, inputSchema, model, allowedTools = [], maxIterations = usualIterations } = manifest;
  return {
    name,
    description,
    instructions: text,
    authors,
    env,
    packages,
    capabilities,
    allowedTools,
    requiredTools,
    maxIterations,
    ...(location !== "" && { skillPath: location }),
    ...(rationale !== undefined && { rationale }),
    ...(inputSchema && { inputSchema }),
    ...(model !== undefined && { model }),
  };
}
