/** The fields of eval files and what they may contain, for the readers and the JSON Schemas. */
import type { JsonSchema } from "@metier/base/json";
import { KINDS, MODEL_TYPES, STATEMENT_FIELDS } from "./read-assertion.ts";

const FILLED: JsonSchema = { type: "string", pattern: "\\S" };
const DRAFT = "https://json-schema.org/draft/2020-12/schema";
const ASSERTIONS: JsonSchema = {
  type: "array",
  items: { $ref: "#/$defs/assertion" },
  description: "What must be true of the result: sentences for a model to judge, checks, or scripts.",
};

/** For one eval. */
export const EVAL_FIELDS: Readonly<Record<string, JsonSchema>> = {
  id: {
    anyOf: [FILLED, { type: "integer" }],
    description: "Unique in its file; default: its number.",
  },
  name: { type: "string", description: "The name shown to people." },
  eval_name: { type: "string", description: "Another name for `name`." },
  prompt: { ...FILLED, description: "The task." },
  expected_output: {
    type: "string",
    description: "A description of a good result, for the grader and for readers.",
  },
  files: {
    type: "array",
    items: FILLED,
    description: "Input files, as paths in the skill's folder: `evals/files/data.csv`.",
  },
  assertions: ASSERTIONS,
  expectations: ASSERTIONS,
  description: { description: "For readers." },
  tags: { description: "For readers." },
};

/** For the whole file. */
export const SET_FIELDS: Readonly<Record<string, JsonSchema>> = {
  skill_name: { type: "string", description: "The skill's name." },
  evals: { type: "array", items: { $ref: "#/$defs/eval" } },
  $schema: { type: "string" },
  version: { description: "For readers." },
  description: { description: "For readers." },
};

export function evalsJsonSchema(): JsonSchema {
  return {
    $schema: DRAFT,
    title: "Evals of a skill",
    description: "Tasks that `metier eval` runs with and without the skill: evals/evals.json.",
    anyOf: [
      { type: "object", required: ["evals"], properties: SET_FIELDS, additionalProperties: false },
      { type: "array", items: { $ref: "#/$defs/eval" } },
    ],
    $defs: {
      eval: { type: "object", required: ["prompt"], properties: EVAL_FIELDS, additionalProperties: false },
      assertion: assertionSchema(),
    },
  };
}

/** A sentence, or an object with at most one check. Its keys may use hyphens or underscores. */
function assertionSchema(): JsonSchema {
  const words = { type: "array", minItems: 1, items: { type: "string" } };
  const checks = Object.entries(KINDS).flatMap(([name, kind]) => {
    const schema = kind === "script" ? { anyOf: [FILLED, words] } : FILLED;
    return [...new Set([name, name.replaceAll("-", "_")])].map((spelling) => [spelling, schema] as const);
  });
  const type = {
    enum: [...Object.keys(KINDS), ...MODEL_TYPES].flatMap((name) => [
      ...new Set([name, name.replaceAll("-", "_")]),
    ]),
  };
  const properties = {
    ...Object.fromEntries(STATEMENT_FIELDS.map((name) => [name, { type: "string" }])),
    ...Object.fromEntries(checks),
    type,
    kind: type,
    value: { anyOf: [FILLED, words] },
    command: { anyOf: [FILLED, words] },
    path: FILLED,
    file: FILLED,
    in: FILLED,
    args: { type: "array", items: { type: "string" } },
  };
  return { anyOf: [FILLED, { type: "object", minProperties: 1, properties }] };
}

export function queriesJsonSchema(): JsonSchema {
  const list = {
    type: "array",
    items: {
      type: "object",
      required: ["query", "should_trigger"],
      properties: {
        query: { type: "string", pattern: "^\\s*[^\\s/]", description: "A request as people type it." },
        should_trigger: { type: "boolean", description: "Whether the skill should handle it." },
      },
    },
  };
  return {
    $schema: DRAFT,
    title: "Trigger queries of a skill",
    description: "Requests for `metier eval triggers` and `metier describe`: evals/eval_queries.json.",
    anyOf: [list, { type: "object", required: ["queries"], properties: { queries: list } }],
  };
}
