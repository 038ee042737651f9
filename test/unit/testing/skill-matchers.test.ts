/** The matchers about skills: what they accept, and what they say when they do not. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SkillTestHarness } from "metier/testing";
import { expect, test } from "vitest";
import "../../support/skill-matchers.ts";
import { temporaryFolder, writeTree } from "../../support/temporary.ts";
import { skill } from "../../support/world.ts";

const MORE = `allowed-tools: Read Bash(git log:*)
disable-model-invocation: true
input-schema:
  type: object
  properties: { topic: { type: string } }
  required: [topic]`;

function openReviewer(): SkillTestHarness {
  const folder = temporaryFolder();
  writeTree(folder, { "reviewer/SKILL.md": skill("reviewer", MORE, "Review $ARGUMENTS.") });
  return new SkillTestHarness({ skillPath: join(folder, "reviewer") });
}

test("toBeValidSkill takes a harness, a path, a URL and an object", async () => {
  const folder = temporaryFolder();
  writeTree(folder, { "good/SKILL.md": skill("good"), "bad/SKILL.md": "---\nname: bad\n---\nText." });
  await expect(new SkillTestHarness({ skillPath: join(folder, "good") })).toBeValidSkill();
  await expect(join(folder, "good")).toBeValidSkill("strict");
  await expect(pathToFileURL(join(folder, "good"))).toBeValidSkill();
  await expect({ name: "given", description: "Given.", instructions: "Do." }).toBeValidSkill();
  await expect(join(folder, "bad")).not.toBeValidSkill();
  await expect(expect(join(folder, "bad")).toBeValidSkill()).rejects.toThrow(
    /^expected the skill to be a valid skill; it is not:\n {2}.*description/s,
  );
  await expect(expect(join(folder, "good")).not.toBeValidSkill()).rejects.toThrow("not to be a valid skill");
});

test("toDeclareTool knows a tool by every name of it", async () => {
  const harness = openReviewer();
  for (const tool of ["Read", "read_file", "bash", "Bash(git log:*)"])
    await expect(harness).toDeclareTool(tool);
  await expect(harness).not.toDeclareTool("write_file");
  await expect(expect(harness).toDeclareTool("write_file")).rejects.toThrow(
    "expected the skill to declare the tool `write_file`; it declares:\n  Read\n  Bash(git log:*)",
  );
});

test("toSubstitute looks for the arguments, or for what is expected of them", async () => {
  const harness = openReviewer();
  await expect(harness).toSubstitute("src/a.ts");
  await expect(harness).toSubstitute("src/a.ts", "Review src/a.ts.");
  await expect(harness).toSubstitute("src/a.ts", /^Review \S+\.$/);
  await expect(harness).not.toSubstitute("src/a.ts", "Look at src/a.ts");
  await expect(expect(harness).toSubstitute("a", "b is not there")).rejects.toThrow(
    "its text is:\nReview a.",
  );
});

test("toBeUsable and toRefuse say what the checks say", async () => {
  const harness = openReviewer();
  await expect(harness).toBeUsable({ input: { topic: "tides" } });
  await expect(harness).toRefuse("input");
  await expect(harness).toRefuse("not-invocable", { source: "model", input: { topic: "tides" } });
  await expect(harness).not.toRefuse("access");
  await expect(expect(harness).toBeUsable()).rejects.toThrow(/it is refused: .*topic/s);
  await expect(expect(harness).toRefuse("input", { input: { topic: "tides" } })).rejects.toThrow(
    "expected the skill to be refused because of `input`; it is usable",
  );
});
