import { describe, expect, test } from "vitest";
import { pathInSkill, readSkillUri } from "../../src/remote/remote-entry.ts";

describe("the URI of a skill", () => {
  test("names the skill by the last segment before `SKILL.md`, whatever its scheme and prefix", () => {
    expect(readSkillUri("skill://refunds/SKILL.md")).toEqual({ root: "skill://refunds", name: "refunds" });
    expect(readSkillUri("github://acme/repo/skills/refunds/SKILL.md")).toMatchObject({ name: "refunds" });
    expect(readSkillUri("skill://acme/r%65funds/SKILL.md")).toMatchObject({ name: "refunds" });
  });

  for (const uri of [
    "",
    "SKILL.md",
    "skill:refunds/SKILL.md",
    "skill://SKILL.md",
    "skill:///SKILL.md",
    "skill://refunds/skill.md",
    "skill://refunds//SKILL.md",
    "skill://a/../b/SKILL.md",
    "skill://a/%2e%2e/b/SKILL.md",
    "skill://a/b%2Fc/SKILL.md",
    "skill://a/b%00/SKILL.md",
    "skill://a/%ff/SKILL.md",
    "skill://a b/SKILL.md",
    "skill://a\\b/SKILL.md",
    "skill://refunds/SKILL.md?x",
    "skill://refunds/SKILL.md#x",
    `skill://${"a".repeat(5000)}/SKILL.md`,
  ]) {
    test(`is not ${JSON.stringify(uri.slice(0, 40))}`, () => {
      expect(readSkillUri(uri)).toHaveProperty("fault");
    });
  }
});

describe("the URI of a file", () => {
  test("is the path below the skill, decoded", () => {
    expect(pathInSkill("skill://a", "skill://a/references/Q%26A%20new.md")).toEqual({
      path: "references/Q&A new.md",
    });
  });

  for (const [uri, why] of [
    ["skill://b/x.md", "outside"],
    ["skill://a", "outside"],
    ["skill://ab/x.md", "outside"],
    ["skill://a/", "may point outside"],
    ["skill://a/./x.md", "may point outside"],
    ["skill://a/x/../../b", "may point outside"],
    ["skill://a/%2E%2E/b", "may point outside"],
    ["skill://a/x%5Cy", "may point outside"],
    ["skill://a/C:%5Cx", "may point outside"],
    ["skill://a/%252e%252e/b", "may point outside"],
    ["skill://a/x\n.md", "not a URI"],
  ] as const) {
    test(`is refused for ${JSON.stringify(uri)}`, () => {
      expect(pathInSkill("skill://a", uri)).toEqual({ fault: expect.stringContaining(why) });
    });
  }
});
