import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { answer, ownTool, type Tool } from "../../src/tools/tool.ts";

function tool(name: string): Tool<unknown> {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    effect: "read",
    execute: async (input, context) => answer(`${name} ${JSON.stringify(input)} ${JSON.stringify(context)}`),
  };
}

verifies(
  [154, "case 96"],
  "a tool of a skill carries its name, and does and says what it did before",
  async () => {
    const extract = tool("extract");
    const owned = ownTool("pdf-tools", extract);
    expect(owned).toMatchObject({ id: "pdf-tools:extract", skill: "pdf-tools", name: "pdf-tools__extract" });
    expect(owned).toMatchObject({
      description: extract.description,
      inputSchema: extract.inputSchema,
      effect: extract.effect,
    });
    expect(await owned.execute({ path: "a" }, { callId: "1" })).toEqual(
      answer('extract {"path":"a"} {"callId":"1"}'),
    );
  },
);

test("every name is one that providers take, however long or odd its parts are", () => {
  const skills = ["a", "b".repeat(64), "pdf-tools"];
  const tools = ["run", "x".repeat(64), "dotted.name", "mit Leerzeichen", "größe"];
  const names = skills.flatMap((skill) => tools.map((name) => ownTool(skill, tool(name)).name));
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(new Set(names).size).toBe(names.length);
});

test("names that would be cut or cleaned to the same are told apart", () => {
  const long = "t".repeat(64);
  const pairs: readonly (readonly [string, string])[] = [
    [`${long}a`, `${long}b`],
    ["a.b", "a_b"],
    ["a.b", "a/b"],
  ];
  for (const [one, two] of pairs) {
    expect(ownTool("skill", tool(one)).name).not.toBe(ownTool("skill", tool(two)).name);
  }
  expect(ownTool("skill", tool(long)).name).toBe(ownTool("skill", tool(long)).name);
});
