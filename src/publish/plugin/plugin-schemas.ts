/** `plugin.json` and `mcp.json` of Agent Plugins 1.0.0 as JSON Schemas, closed as the standard has them. */
import type { JsonSchema } from "../../validate/json-schema.ts";

export const PLUGIN_SCHEMA_ID = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json";
export const MCP_SCHEMA_ID = "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json";

const TEXT = { type: "string" };
const TEXTS = { type: "object", additionalProperties: TEXT };

export const PLUGIN_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    $schema: { const: PLUGIN_SCHEMA_ID },
    name: {
      type: "string",
      maxLength: 64,
      // Letters and digits, with hyphens and dots between them, of which no two equal ones follow each other.
      pattern: "^[a-z0-9]+(?:(?:-(?:\\.-)*\\.?|\\.(?:-\\.)*-?)[a-z0-9]+)*$",
    },
    version: TEXT,
    description: TEXT,
    author: {
      type: "object",
      properties: { name: TEXT, email: TEXT, url: TEXT },
      additionalProperties: false,
    },
    homepage: TEXT,
    repository: TEXT,
    license: TEXT,
    keywords: { type: "array", items: TEXT },
    extensions: { type: "object", additionalProperties: { type: "object" } },
  },
  required: ["$schema", "name"],
  additionalProperties: false,
};

/** The order in which a manifest is written. */
export const PLUGIN_FIELDS: readonly string[] = Object.keys(PLUGIN_SCHEMA.properties as object);

export const STDIO_SERVER_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    type: { const: "stdio" },
    command: { type: "string", pattern: "^(?:\\./\\S+|[^\\s/\\\\$]+)$" },
    args: { type: "array", items: TEXT },
    env: { ...TEXTS, propertyNames: { not: { enum: ["PLUGIN_ROOT", "PLUGIN_DATA"] } } },
    cwd: { type: "string", pattern: "^(?:\\./|\\$\\{PLUGIN_(?:ROOT|DATA)\\}(?:/|$))" },
  },
  required: ["type", "command"],
  additionalProperties: false,
};

export const REMOTE_SERVER_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    type: { enum: ["streamable-http", "sse"] },
    url: { type: "string", minLength: 1 },
    headers: TEXTS,
  },
  required: ["type", "url"],
  additionalProperties: false,
};
