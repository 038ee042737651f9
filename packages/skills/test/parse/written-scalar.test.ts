import { describe, expect, test } from "vitest";
import { skillText } from "../../../../test/support/temporary.ts";
import { parseSkill } from "../../src/parse/parse-skill.ts";
import { writtenScalar } from "../../src/parse/source-text.ts";
import { validateSkill } from "../../src/validate/validate-skill.ts";

describe("how a scalar is written", () => {
  test.each([
    ["version: 1.0", ["version"], "1.0"],
    ["version: 1.10 # the tenth", ["version"], "1.10"],
    ["version: 1.0\nversion: 2.0", ["version"], "2.0"],
    ["metadata:\n  author: me\n  version: 1.0\nother: 2", ["metadata", "version"], "1.0"],
    [
      "metadata:\n    # comment\n    deep:\n      version: 9.0\n    version: 1.20",
      ["metadata", "version"],
      "1.20",
    ],
    ["metadata: {version: 1.0, x: 2}", ["metadata", "version"], "1.0"],
    ['metadata: {"version": 3.0}', ["metadata", "version"], "3.0"],
    ["metadata:\n  other: 1", ["metadata", "version"], undefined],
    ["name: x", ["version"], undefined],
    ["description: version: 1.0", ["version"], undefined],
  ])("in %j at %j is %j", (yaml, path, expected) => {
    expect(writtenScalar(yaml, path)).toBe(expected);
  });
});

test("a version keeps its zeros on the way into the manifest", async () => {
  const candidate = {
    form: "directory",
    file: "/s/a/SKILL.md",
    directory: "/s/a",
    defaultName: "a",
  } as const;
  const read = async (lines: string) =>
    validateSkill(await parseSkill(candidate, skillText(`name: a\ndescription: A.\n${lines}`)), "standard")
      .manifest;
  expect(await read("metadata:\n  version: 1.0")).toMatchObject({
    version: "1.0",
    metadata: { version: "1.0" },
  });
  expect(await read("version: 2.10")).toMatchObject({ version: "2.10" });
});

test("a comment below a repaired value is not taken into it", async () => {
  const candidate = {
    form: "directory",
    file: "/s/a/SKILL.md",
    directory: "/s/a",
    defaultName: "a",
  } as const;
  const parsed = await parseSkill(
    candidate,
    "---\nname: a\ndescription: one: two\n# a comment\nlicense: MIT\n---\n\nx\n",
  );
  expect(parsed.frontmatter).toEqual({ name: "a", description: "one: two", license: "MIT" });
});
