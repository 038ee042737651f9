/** The JSON Schema of a config file for editors, generated from the tree of keys that reads it. */
import type { JsonSchema } from "@metier/base/json";
import { spellingsOf } from "@metier/base/text";
import type { ConfigField } from "./config-field.ts";
import { FIELD_TREE, type FieldNode } from "./config-fields.ts";

export function configJsonSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Metier configuration",
    description: "A user or project config file: config.toml, config.yaml or config.json.",
    ...nodeSchema(FIELD_TREE),
  };
}

function nodeSchema(node: FieldNode): JsonSchema {
  if (node.field && node.keys.size === 0) return fieldSchema(node.field);
  const table: JsonSchema = {
    type: "object",
    properties: propertiesOf(node),
    ...(node.variable && { patternProperties: { "^[A-Z_][A-Z0-9_]*$": nodeSchema(node.variable) } }),
    additionalProperties: node.named ? nodeSchema(node.named) : false,
  };
  return node.field ? { anyOf: [fieldSchema(node.field), table] } : table;
}

function propertiesOf({ keys, aliases }: FieldNode): JsonSchema {
  const named = [...keys, ...[...aliases].flatMap(([alias, key]) => entry(alias, keys.get(key)))];
  return Object.fromEntries(
    named.flatMap(([key, below]) => {
      const schema = nodeSchema(below);
      return spellingsOf(key).map((spelling) => [spelling, schema] as const);
    }),
  );
}

function entry(alias: string, node: FieldNode | undefined): readonly (readonly [string, FieldNode])[] {
  return node === undefined ? [] : [[alias, node]];
}

function fieldSchema({ description, type, default: initial }: ConfigField): JsonSchema {
  const note = `${description} Allowed: ${type.allowed}.`;
  const shown = initial === undefined ? note : `${note} Default: ${JSON.stringify(initial)}.`;
  return { description: shown, ...type.schema };
}
