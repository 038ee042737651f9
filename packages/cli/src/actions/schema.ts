/** `metier schema`: JSON Schemas for the files people write, each made from the table that reads the file. */
import { UsageError } from "@metier/base/errors";
import type { JsonSchema } from "@metier/base/json";
import { nearestNames } from "@metier/base/text";
import type { SchemaFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { outJson, reply } from "../context.ts";

interface PublishedSchema {
  /** The files it applies to. */
  readonly file: string;
  load(): Promise<JsonSchema>;
}

const SCHEMAS: Readonly<Record<string, PublishedSchema>> = {
  skill: {
    file: "frontmatter of SKILL.md",
    load: async () => (await import("@metier/skills")).manifestJsonSchema(),
  },
  config: {
    file: "config.toml, config.yaml, config.json",
    load: async () => (await import("@metier/skills/config")).configJsonSchema(),
  },
  "test-file": {
    file: "tests/*.test.yaml",
    load: async () => (await import("@metier/runtime/testing")).testFileJsonSchema(),
  },
  evals: {
    file: "evals/evals.json",
    load: async () => (await import("@metier/skills/formats")).evalsJsonSchema(),
  },
  "eval-queries": {
    file: "evals/eval_queries.json",
    load: async () => (await import("@metier/skills/formats")).queriesJsonSchema(),
  },
  agent: {
    file: "frontmatter of .metier/agents/*.md",
    load: async () => (await import("@metier/run/engine")).agentJsonSchema(),
  },
  command: {
    file: "frontmatter of .metier/commands/**/*.md",
    load: async () => (await import("@metier/run/engine")).commandJsonSchema(),
  },
};

/** By their published names. */
export async function publishedSchemas(): Promise<Readonly<Record<string, JsonSchema>>> {
  const entries = Object.entries(SCHEMAS).map(async ([name, { load }]) => [name, await load()] as const);
  return Object.fromEntries(await Promise.all(entries));
}

export const schemaAction: Action<SchemaFlags, [name: string | undefined]> = async (context, flags, name) => {
  const names = Object.keys(SCHEMAS);
  if (name === undefined) {
    const schemas = Object.entries(SCHEMAS).map(([key, { file }]) => ({ name: key, file }));
    const rows = schemas.map((row) => `${row.name.padEnd(14)} ${row.file}`);
    reply(context, flags, { schemas }, () => [...rows, "Print one with `metier schema <name>`."].join("\n"));
    return;
  }
  const found = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (found === undefined) {
    const [near] = nearestNames(name, names, 1);
    throw new UsageError(`No schema named \`${name}\`.`, {
      hint: near === undefined ? `Use one of ${names.join(", ")}.` : `Did you mean \`${near}\`?`,
    });
  }
  outJson(context, await found.load());
};
