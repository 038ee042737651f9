import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

function library(): World {
  const world = createWorld();
  const described = (name: string, description: string, more = "", body = "Do it."): string =>
    `---\nname: ${name}\ndescription: ${description}\n${more}---\n\n${body}\n`;
  world.write({
    "home/.metier/skills/pdf-tables/SKILL.md": described("pdf-tables", "Extract tables from PDF files."),
    "home/.metier/skills/release-notes/SKILL.md": described(
      "release-notes",
      "Write release notes from commits.",
    ),
    "home/.metier/skills/greeter/SKILL.md": described(
      "greeter",
      "Greets people.",
      "triggers:\n  keywords: [hello]\n  verbs: [greet]\n  patterns: ['welcome\\s+\\w+']\n",
    ),
    "home/.metier/skills/secret/SKILL.md": skill(
      "secret",
      "disable-model-invocation: true",
      "tables from PDF files",
    ),
  });
  return world;
}

describe("`find`", () => {
  test("ranks what fits first, hides what a model may not use, and exits 1 when nothing fits", async () => {
    const world = library();
    const found = await world.cli("find", "extracting", "a", "table", "from", "my", "pdf", "--json");
    expect(found.code).toBe(0);
    expect(found.json[0]).toEqual({
      name: "pdf-tables",
      score: expect.any(Number),
      location: expect.stringContaining("pdf-tables/SKILL.md"),
    });
    expect(found.json.map(({ name }: { name: string }) => name)).not.toContain("secret");
    expect((await world.cli("find", "-k", "1", "write", "notes", "--json")).json).toHaveLength(1);
    expect((await world.cli("find", "zzzqqq")).code).toBe(1);
    expect((await world.cli("find", "-k", "none", "x")).code).toBe(2);
    expect((await world.cli("find")).code).toBe(2);
  });
});

describe("`match`", () => {
  verifies(136, "suggests skills by keyword, verb and pattern, with the reasons", async () => {
    const world = library();
    const { json } = await world.cli("match", "hello, please greet and welcome everyone", "--json");
    expect(json.matches).toMatchObject([
      {
        name: "greeter",
        reasons: [
          { kind: "keyword", trigger: "hello" },
          { kind: "verb", trigger: "greet" },
          { kind: "pattern", trigger: "welcome\\s+\\w+" },
        ],
      },
    ]);
    expect((await world.cli("match", "nothing of the sort")).code).toBe(1);
  });
});
