import { readFileSync } from "node:fs";
import { join } from "node:path";
import { candidateForFile } from "@metier/skills";
import { describe, expect, test } from "vitest";
import { createInstallWorld, resultOf } from "../../../../test/support/installing.ts";
import { skillText } from "../../../../test/support/temporary.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { fixCompat } from "../../src/publish/compat/fix-compat.ts";

const BASE = "name: pdf\ndescription: Reads PDF.";

async function fix(frontmatter: string): Promise<string> {
  const { text } = await fixCompat(
    skillText(frontmatter),
    candidateForFile("/skills/pdf/SKILL.md", "directory"),
  );
  return text.replace(/^---\n/, "").replace(/\n---\n.*$/s, "");
}

describe("a fix for other clients", () => {
  test.each([
    ["moves `version` below `metadata`", "version: 1.10", 'metadata:\n  version: "1.10"'],
    [
      "adds to `metadata` that is there",
      "version: 1.0.0\nmetadata:\n    team: x",
      "metadata:\n    team: x\n    version: 1.0.0",
    ],
    ["moves one author", "author: Ada", "metadata:\n  author: Ada"],
    ["moves tags as one line", "tags: [a, b]", "metadata:\n  tags: a b"],
    ["moves commands that are required", "requires:\n  bins: [git, jq]", "metadata:\n  requires: git jq"],
    ["spells fields as the specification does", "allowed_tools: Read", "allowed-tools: Read"],
    [
      "writes tools as one line",
      "allowed-tools: [Read, Bash(git log:*)]",
      "allowed-tools: Read Bash(git log:*)",
    ],
  ])("%s", async (_, before, after) => {
    expect(await fix(`${BASE}\n${before}`)).toBe(`${BASE}\n${after}`);
  });

  test.each([
    ["more than one author", "author:\n  - Ada\n  - Bob"],
    ["requirements that a line cannot say", "requires:\n  bins: [git]\n  env: [HOME]"],
    ["a tag with a blank in it", "tags:\n  - two words"],
    ["a comment that would be lost", 'version: "1.0" # of the skill'],
    ["what `metadata` says otherwise", 'version: "2.0"\nmetadata:\n  version: "1.0"'],
    ["`metadata` in flow style", 'version: "2.0"\nmetadata: {team: x}'],
    ["fields that have no other place", "model: fast\nenv:\n  - KEY"],
  ])("leaves %s as it is", async (_, more) => {
    expect(await fix(`${BASE}\n${more}`)).toBe(`${BASE}\n${more}`);
  });

  test("keeps the body, the line ends and everything else byte for byte", async () => {
    const text = `---\r\nname: pdf\r\n# a comment\r\ndescription: x\r\nversion: "1"\r\n---\r\n\r\n  Body --- text\r\n`;
    const fixed = await fixCompat(text, candidateForFile("/skills/pdf/SKILL.md", "directory"));
    expect(fixed.text).toBe(text.replace('version: "1"', 'metadata:\r\n  version: "1"'));
    expect(fixed.repairs).toEqual(["`version` is now `metadata.version`."]);
  });
});

describe("metier compat --fix", () => {
  test("rewrites the file, shows the difference, and reports what is left", async () => {
    const world = createWorld();
    world.write({ "project/pdf/SKILL.md": skillText(`${BASE}\nversion: 1.0`) });
    const { code, stdout } = await world.cli("compat", "--fix", "pdf", "--client", "agentskills");
    expect(code).toBe(0);
    expect(stdout).toContain("- version: 1.0");
    expect(stdout).toContain('+   version: "1.0"');
    expect(readFileSync(join(world.project, "pdf/SKILL.md"), "utf8")).toBe(
      skillText(`${BASE}\nmetadata:\n  version: "1.0"`),
    );
    expect((await world.cli("validate", "--strict", "pdf")).code).toBe(0);
  });

  test("writes nothing where there is nothing to rewrite", async () => {
    const world = createWorld();
    world.write({ "project/pdf/SKILL.md": skillText(BASE) });
    expect((await world.cli("compat", "--fix", "pdf", "--json")).json.fixed).toEqual([]);
  });

  test("does not rewrite what is installed", async () => {
    const world = createInstallWorld();
    world.write({ "project/source/pdf/SKILL.md": skill("pdf", "version: 1.0") });
    const metier = await world.metier();
    resultOf(await metier.install({ source: "./source/pdf", yes: true }));
    const { code, stderr } = await world.cli("compat", "--fix", "pdf");
    expect(code).toBe(2);
    expect(stderr).toContain("is installed");
    expect((await metier.verify()).ok).toBe(true);
  });
});
