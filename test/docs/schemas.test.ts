/** The published JSON Schemas take every example of the documents and every file of our own skills, and refuse mistakes. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { checkJson } from "@metier/base/json";
import { publishedSchemas } from "@metier/cli";
import { parseYamlValue } from "@metier/skills/formats";
import { parse as parseToml } from "smol-toml";
import { expect, test } from "vitest";
import { codeBlocks, readDocuments } from "../support/documents.ts";
import { filesUnder, readRepositoryFile } from "../support/repository.ts";
import { createWorld } from "../support/world.ts";

const schemas = await publishedSchemas();

interface Example {
  readonly where: string;
  readonly schema: string;
  readonly value: unknown;
}

function frontmatterOf(text: string): unknown {
  return parseYamlValue(/^---\n(.*?)^---$/ms.exec(text)?.[1] ?? "").value;
}

/** JSON alone says what it is by what it holds: other blocks show answers of programs. */
function schemaOfJson(code: string): string | undefined {
  if (code.includes('"evals":')) return "evals";
  return code.includes('"should_trigger"') ? "eval-queries" : undefined;
}

const shown: readonly Example[] = readDocuments()
  .flatMap(codeBlocks)
  .flatMap(({ document, line, info, code }): readonly Example[] => {
    const where = `${document}:${line}`;
    if (/^toml (?:user|project|config|policy|in .*config\.toml)$/.test(info)) {
      return info === "toml policy" ? [] : [{ where, schema: "config", value: parseToml(code) }];
    }
    if (/^yaml in .*\.test\.yaml$/.test(info)) {
      return [{ where, schema: "test-file", value: parseYamlValue(code).value }];
    }
    if (/^md skill$|^md in .*SKILL\.md$/.test(info)) {
      return [{ where, schema: "skill", value: frontmatterOf(code) }];
    }
    if (info === "md agent") {
      return [{ where, schema: "agent", value: frontmatterOf(code) }];
    }
    const schema = info === "json" ? schemaOfJson(code) : undefined;
    return schema === undefined ? [] : [{ where, schema, value: JSON.parse(code) }];
  });

const FOLDERS = ["packages/metier/skills", "examples/skills", "examples/desk/skills"];

const kept: readonly Example[] = filesUnder(FOLDERS, [".md", ".yaml", ".json"]).flatMap((where) => {
  const text = readRepositoryFile(where);
  if (where.endsWith("/SKILL.md")) return [{ where, schema: "skill", value: frontmatterOf(text) }];
  if (where.endsWith(".test.yaml"))
    return [{ where, schema: "test-file", value: parseYamlValue(text).value }];
  if (where.endsWith("evals/evals.json")) return [{ where, schema: "evals", value: JSON.parse(text) }];
  if (where.endsWith("eval_queries.json"))
    return [{ where, schema: "eval-queries", value: JSON.parse(text) }];
  return [];
});

async function faultsOf(schema: string, value: unknown): Promise<string> {
  const checked = await checkJson(schemas[schema] ?? {}, value);
  return checked.ok ? "" : checked.message;
}

test("the documents have examples of most kinds", () => {
  const kinds = new Set([...shown, ...kept].map(({ schema }) => schema));
  expect([...kinds].sort()).toEqual(["agent", "config", "eval-queries", "evals", "skill", "test-file"]);
  expect(shown.length).toBeGreaterThan(15);
});

test.each([...shown, ...kept])("[U9] $where fits the schema $schema", async ({ schema, value }) => {
  expect(await faultsOf(schema, value)).toBe("");
});

test.each([
  ["config", { runs: { "max-iteration": 3 } }],
  ["config", { runs: { maxIterations: "three" } }],
  ["config", { models: { fast: { provider: "nobody" } } }],
  ["test-file", [{ name: "a", expct: {} }]],
  ["test-file", [{ expect: { refused: true } }]],
  ["test-file", [{ name: "a", expect: { result: "done" } }]],
  ["evals", { evals: [{ id: 1 }] }],
  ["evals", { evals: [{ prompt: "x", assertion: [] }] }],
  ["eval-queries", [{ query: "x" }]],
  ["eval-queries", [{ query: "/x", should_trigger: true }]],
  ["agent", { nme: "x" }],
  ["skill", { name: "A B", description: "x" }],
  ["command", { "argument-hint": [1] }],
])("the schema %s refuses %j", async (schema, value) => {
  expect(await faultsOf(schema, value)).not.toBe("");
});

test("`metier schema` lists and prints them", async () => {
  const world = createWorld();
  const list = await world.cli("schema");
  for (const name of Object.keys(schemas)) {
    expect(list.stdout).toMatch(new RegExp(`^${name} `, "m"));
    expect((await world.cli("schema", name)).json).toEqual(schemas[name]);
  }
  const near = await world.cli("schema", "eval");
  expect([near.code, near.stderr]).toEqual([2, expect.stringContaining("Did you mean `evals`?")]);
});

test("what `metier new` writes fits", async () => {
  const world = createWorld();
  await world.cli("new", "mend-kites", "--template", "reference");
  const read = (path: string): string => readFileSync(join(world.project, "mend-kites", path), "utf8");
  expect(await faultsOf("skill", frontmatterOf(read("SKILL.md")))).toBe("");
  expect(await faultsOf("evals", JSON.parse(read("evals/evals.json")))).toBe("");
  expect(await faultsOf("eval-queries", JSON.parse(read("evals/eval_queries.json")))).toBe("");
  expect(await faultsOf("test-file", parseYamlValue(read("tests/mend-kites.test.yaml")).value)).toBe("");
});
