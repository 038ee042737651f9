/** What takes long with many skills says how far it is, on a terminal alone; and what it prints in the end fits a screen. */
import { checkCompatibility, packPlugin, publishSkills } from "@metier/install/publish";
import { describe, expect, test } from "vitest";
import { describeTerminal, inPseudoTerminal } from "../../../test/support/pseudo-terminal.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

function createMany(count: number, more: Readonly<Record<string, string>> = {}): World {
  const world = createWorld();
  const names = Array.from({ length: count }, (_, index) => `tool-${index}`);
  world.write({
    ...Object.fromEntries(names.map((name) => [`project/skills/${name}/SKILL.md`, skill(name)])),
    ...more,
  });
  return world;
}

describeTerminal("in a terminal, one line of progress", () => {
  const PATH = ["--path", "skills"];
  test.each([
    ["publish", ["publish", "skills", "--well-known", "site"], /Checking skills +\[[#-]{20}\] \d+%/],
    ["pack", ["pack", "skills", "-o", "all.tgz", "--name", "all"], /Checking skills +\[/],
    ["compat", ["compat", "skills"], /Checking skills +\[/],
    ["scan", ["scan", "skills"], /Scanning +\[/],
    ["find", ["find", "tool", ...PATH], /Indexing skills +\[/],
    ["eval routing", ["eval", "routing", ...PATH], /Comparing descriptions/],
  ])("is shown by `%s`, and gone at the end", async (_, args, line) => {
    const { screen, lines, code } = await inPseudoTerminal(createMany(30), args);
    expect([code, lines.join("\n")]).toEqual([0, expect.not.stringMatching(line)]);
    expect(screen).toMatch(line);
  });

  test("is shown by `verify`, and gone at the end", async () => {
    const world = createMany(30);
    expect((await world.cli("install", "./skills", "--all", "--yes")).code).toBe(0);
    const { screen, lines } = await inPseudoTerminal(world, ["verify"]);
    expect(screen).toMatch(/Verifying +\[/);
    expect(lines).toEqual(["30 skills, all as recorded.", ""]);
  });
});

describe("many skills at once", () => {
  test("the library says how far it is, and a callback that throws ends nothing", async () => {
    const world = createMany(2);
    const metier = await world.metier();
    const steps: unknown[] = [];
    const onProgress = (step: unknown): void => {
      steps.push(step);
      throw new Error("of the host");
    };
    const watched = { cwd: world.project, onProgress };
    const options = { ...watched, skills: ["skills"] };
    expect((await publishSkills(metier, { ...options, folder: "site" })).ok).toBe(true);
    expect((await packPlugin(metier, { ...options, output: "all.tgz", name: "all" })).ok).toBe(true);
    expect((await checkCompatibility(metier, ["skills"], watched)).works).toBe(true);
    const each = [0, 1].map((done) => ({ what: "Checking skills", done, total: 2 }));
    expect(steps).toEqual([...each, ...each, ...each]);
  });

  test("more than an index may list are refused before any is looked at", async () => {
    const world = createMany(1001);
    const { code, stderr } = await world.cli("publish", "skills", "--well-known", "site");
    expect(code).not.toBe(0);
    expect(stderr).toContain("There are 1001 skills; the limit for an index is 1000.");
  });

  test("`compat` shows those that break in full, and counts the others", async () => {
    const broken = "---\nname: Not_A_Name\ndescription: x\n---\nText.\n";
    const world = createMany(30, { "project/skills/not-a-name/SKILL.md": broken });
    const { stdout, code } = await world.cli("compat", "skills");
    expect(code).toBe(1);
    expect(stdout).toContain("not-a-name");
    expect(stdout).not.toContain("tool-1 ");
    expect(stdout).toContain(
      "30 of 31 skills work in every client. `metier compat <skill>` shows one in full.",
    );
  });
});
