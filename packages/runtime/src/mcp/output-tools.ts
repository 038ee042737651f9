/**
 * Skills with an `output-schema` as separate MCP tools: MCP declares structured results per tool, and `use_skill` also
 * serves skills without one. They call `use_skill` with the skill filled in.
 */
import { isJsonObject, type JsonObject, type JsonSchema } from "@metier/base/json";
import { type ConversationTool, chooseExecution, ownTool } from "@metier/run";
import type { Skill } from "@metier/skills";
import type { Connection } from "./connection.ts";

export interface OutputTool extends ConversationTool {
  /** The schema of its `structuredContent`. */
  readonly outputSchema: JsonSchema;
  /** The skill it runs. */
  readonly skill: string;
}

/** More would crowd out a client's other tools; `use_skill` runs the rest too. */
const MOST_TOOLS = 20;

/** None if the server runs nothing: only runs can enforce a schema. */
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
  // The protocol has no other results.
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

/** The parameters of `use_skill` without the skill; `input` as the skill describes it. */
function withoutSkill(schema: JsonSchema, input: JsonSchema | undefined): JsonSchema {
  const { skill: _, ...rest } = schema.properties as JsonObject;
  const described = input?.type === "object" ? { input } : {};
  // Without a task, a run that takes no input has nothing to do.
  const required = input === undefined ? ["message"] : [];
  return { ...schema, properties: { ...rest, ...described }, required };
}

/** For a call's result: the skill's answer, if it is an object. */
export function structuredContent(object: unknown): { readonly structuredContent?: Record<string, unknown> } {
  return isJsonObject(object) ? { structuredContent: { ...object } } : {};
}
