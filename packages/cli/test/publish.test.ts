import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

function createSkills(): World {
  const world = createWorld();
  world.write({
    "project/skills/pdf/SKILL.md": skill("pdf"),
    "project/skills/pdf/notes.md~": "x",
    "project/skills/report/SKILL.md": skill("report"),
    "project/skills/report/references/a.md": "x",
  });
  return world;
}

describe("metier publish", () => {
  test("tells what it wrote and what it left out", async () => {
    const world = createSkills();
    const { code, stdout } = await world.cli("publish", "--well-known", "site", "skills");
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ pdf {2}skill-md {2}pdf-[0-9a-f]{16}\.md/);
    expect(stdout).toContain("left out: notes.md~");
    expect(stdout).toContain("2 skills listed in");
  });

  test("prints the same as JSON", async () => {
    const world = createSkills();
    const { json } = await world.cli(
      "publish",
      "--well-known",
      "site",
      "skills",
      "--json",
      "--base-url",
      "https://x.org",
    );
    expect(json).toMatchObject({
      index: join(world.project, "site/.well-known/agent-skills/index.json"),
      skills: [
        { name: "pdf", leftOut: [{ path: "notes.md~" }] },
        { name: "report", type: "archive" },
      ],
      removed: [],
      kept: [],
    });
    expect(json.skills[0].url).toMatch(/^https:\/\/x\.org\/\.well-known\/agent-skills\/pdf-/);
  });

  test("ends with 1 and says of each skill why it must not be published", async () => {
    const world = createSkills();
    world.write({ "project/skills/pdf/SKILL.md": skill("pdf", "model: fast") });
    const { code, stdout, stderr } = await world.cli("publish", "--well-known", "site", "skills");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/✗ pdf .*\n.*not valid(?:.|\n)*`model` is not a field of the specification/);
    const failed = await world.cli("publish", "--well-known", "site", "skills", "--json");
    expect(failed.json.error).toMatchObject({
      code: "publish.refused",
      data: { refused: [{ name: "pdf" }] },
    });
    const relaxed = await world.cli("publish", "--well-known", "site", "skills", "--profile", "standard");
    expect(relaxed.code).toBe(0);
  });

  test("ends with 2 without a folder, and with 1 for a name that no skill has", async () => {
    const world = createSkills();
    expect((await world.cli("publish", "skills")).code).toBe(2);
    expect((await world.cli("publish", "--well-known", "site", "nobody")).code).toBe(1);
    expect(existsSync(join(world.project, "site"))).toBe(false);
  });
});

describe("metier pack", () => {
  test("writes a plugin from options", async () => {
    const world = createSkills();
    const args = ["--name", "tools", "--version", "1.0.0", "--author", "Ada <ada@x.org>", "--keyword", "a,b"];
    const { code, json } = await world.cli("pack", "skills", ...args, "-o", "out", "--json");
    expect(code).toBe(0);
    expect(json).toMatchObject({
      path: join(world.project, "out"),
      plugin: { name: "tools", version: "1.0.0", author: { name: "Ada" }, keywords: ["a", "b"] },
      skills: [{ name: "pdf" }, { name: "report" }],
    });
    expect((await world.cli("pack", "skills", "--name", "tools", "-o", "out")).code).toBe(1);
    const again = await world.cli("pack", "skills", "--name", "tools", "-o", "out", "--force");
    expect(again.stdout).toContain("Wrote plugin tools with 2 skills to");
  });

  test("ends with 2 without an output, without a name, and for a form of archive it does not write", async () => {
    const world = createSkills();
    expect((await world.cli("pack", "skills", "--name", "tools")).code).toBe(2);
    expect((await world.cli("pack", "skills", "-o", "out")).code).toBe(2);
    expect((await world.cli("pack", "skills", "--name", "tools", "-o", "out.zip")).code).toBe(2);
  });
});
