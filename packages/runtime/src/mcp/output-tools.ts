/**
 * Skills with an `output-schema` as MCP tools of their own: MCP declares structured results for each tool, and `use_skill`
 * serves skills that have none. They call `use_skill`, with the skill given.
 */
import { isJsonObject, type JsonObject, type JsonSchema } from "@metier/base/json";
import { type ConversationTool, chooseExecution, ownTool } from "@metier/run";
import type { Skill } from "@metier/skills";
import type { Connection } from "./connection.ts";

export interface OutputTool extends ConversationTool {
  /** What `structuredContent` of its results fits. */
  readonly outputSchema: JsonSchema;
  /** The one it runs. */
  readonly skill: string;
}

/** More would crowd out a client's other tools; `use_skill` runs the rest as well. */
const MOST_TOOLS = 20;

/** None where the server runs nothing: only a run is held to a schema. */
export function outputTools(
  { metier, library, options }: Connection,
  useSkill: ConversationTool,
): readonly OutputTool[] {
  if (options.run === undefined) return [];
  const configured = metier.config.config.skills.defaultExecution;
  return library
    .skills()
    .filter(({ manifest }) => chooseExecution(manifest, { configured }) === "isolated")
    .flatMap((skill) => toOutputTool(skill, useSkill))
    .slice(0, MOST_TOOLS);
}

function toOutputTool(skill: Skill, useSkill: ConversationTool): readonly OutputTool[] {
  const { name, manifest } = skill;
  const { outputSchema, inputSchema, description } = manifest;
  // The protocol knows no other results.
  if (outputSchema?.type !== "object") return [];
  const { name: exported } = ownTool(name, useSkill);
  return [
    {
      ...useSkill,
      name: exported,
      description,
      inputSchema: withoutSkill(useSkill.inputSchema, inputSchema),
      outputSchema,
      skill: name,
      execute: (input, call) => useSkill.execute({ ...input, skill: name }, call),
    },
  ];
}

/** What `use_skill` takes beside the skill; `input` as the skill itself describes it. */
function withoutSkill(schema: JsonSchema, input: JsonSchema | undefined): JsonSchema {
  const { skill: _, ...rest } = schema.properties as JsonObject;
  const described = input?.type === "object" ? { input } : {};
  // Without a task, a run that takes no input has nothing to do.
  const required = input === undefined ? ["message"] : [];
  return { ...schema, properties: { ...rest, ...described }, required };
}

/** For the result of a call: what the skill answered, where it is an object. */
export function structuredContent(object: unknown): { readonly structuredContent?: Record<string, unknown> } {
  return isJsonObject(object) ? { structuredContent: { ...object } } : {};
}
