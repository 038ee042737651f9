/** The third system's way to test a skill, translated: the harness used directly, and as a fixture of the test framework. */
import { join } from "node:path";
import { createSkillHarness, SkillTestHarness, skillFixtures } from "metier/testing";
import { test as base, describe, expect } from "vitest";
import { temporaryFolder, writeTree } from "../support/temporary.ts";
import { verifies } from "../support/verifies.ts";

const REVIEWER = `---
name: code-reviewer
description: Looks for faults in code.
allowed-tools:
  - read_file
  - grep_search
argument-hint: "<file-path>"
---

Review the file $ARGUMENTS. Look for faults, then say on which line each one is.
`;

function writeProject(): string {
  const project = temporaryFolder();
  writeTree(project, { ".mamba/skills/code-reviewer/SKILL.md": REVIEWER });
  return join(project, ".mamba/skills/code-reviewer");
}

verifies(
  199,
  "the harness loads, validates and invokes a skill, and says which tools it declares",
  async () => {
    const harness = new SkillTestHarness({ skillPath: writeProject() });

    const skill = await harness.load();
    expect(skill.info.name).toBe("code-reviewer");
    expect(skill.info.description).toBe("Looks for faults in code.");

    const result = await harness.validate();
    expect(result.valid, `Validation errors: ${result.errors}`).toBe(true);

    const content = await harness.invoke("src/main.py");
    expect(content).not.toContain("$ARGUMENTS");
    expect(content).toContain("src/main.py");

    expect(await harness.getRegisteredTools()).toEqual(["read_file", "grep_search"]);
  },
);

describe("as a fixture", () => {
  const test = base.extend(skillFixtures);

  test("the skill is valid", async ({ skillHarness }) => {
    const harness = skillHarness({ path: writeProject() });
    const result = await harness.validate();
    expect(result.valid).toBe(true);
  });

  test("the skill substitutes arguments", async ({ skillHarness }) => {
    const harness = skillHarness({ path: writeProject() });
    const content = await harness.invoke("my-file.py");
    expect(content).toContain("my-file.py");
    expect(content).not.toContain("$ARGUMENTS");
  });

  test("the skill declares tools", async ({ skillHarness }) => {
    const harness = skillHarness({ path: writeProject() });
    const tools = await harness.getRegisteredTools();
    expect(tools).toContain("read_file");
  });
});

verifies([200, "case 99"], "the factory behind the fixture can be used without it", async () => {
  const harness = createSkillHarness({ path: writeProject() });
  expect(harness).toBeInstanceOf(SkillTestHarness);
  expect(await harness.invoke("my-file.py")).toContain("Review the file my-file.py.");
  const given: SkillTestHarness[] = [];
  await skillFixtures.skillHarness({}, async (factory) => {
    given.push(factory({ skill: { name: "given", description: "Given.", instructions: "Do $0." } }));
  });
  expect(await given[0]?.invoke("it")).toBe("Do it.");
});
