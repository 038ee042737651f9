import { expect, test } from "vitest";
import type { SkillCandidate } from "../../src/skill/skill.ts";
import { fixSkill } from "../../src/validate/fix-skill.ts";
import type { Profile } from "../../src/validate/profiles.ts";

const CANDIDATE: SkillCandidate = {
  form: "directory",
  file: "/skills/demo/SKILL.md",
  directory: "/skills/demo",
  defaultName: "demo",
};

async function fix(text: string, profile?: Profile): Promise<string> {
  const { text: result } = await fixSkill(text, CANDIDATE, profile);
  const again = await fixSkill(result, CANDIDATE, profile);
  expect(again).toEqual({ text: result, fixed: [] });
  return result;
}

const skill = (...lines: readonly string[]) =>
  ["---", "name: demo", ...lines, "---", "", "# Body", ""].join("\n");

test("a sound file stays as it is, comments, CRLF and all", async () => {
  const sound = skill("# why", "description: Text.   # note", "license:   MIT").replaceAll("\n", "\r\n");
  expect(await fixSkill(sound, CANDIDATE)).toEqual({ text: sound, fixed: [] });
});

test("a byte order mark and blank lines before the frontmatter go", async () => {
  expect(await fix(`\uFEFF${skill("description: Text.")}`)).toBe(skill("description: Text."));
  expect(await fix(`\n\n${skill("description: Text.")}`)).toBe(skill("description: Text."));
});

test("a value with a colon gets quotes, and nothing else changes", async () => {
  const before = skill("# why", "description: Reads: files", "license:   MIT # yes");
  const after = skill("# why", 'description: "Reads: files"', "license:   MIT # yes");
  expect(await fix(before)).toBe(after);
  expect(await fix(before.replaceAll("\n", "\r\n"))).toBe(after.replaceAll("\n", "\r\n"));
});

test("what was fixed is told by its finding", async () => {
  const { fixed } = await fixSkill(skill("description: Reads: files"), CANDIDATE);
  expect(fixed).toMatchObject([{ code: "yaml.repaired", line: 3 }]);
});

test("tabs become spaces, comments stay", async () => {
  const before = skill("description: Text.", "metadata:", "\tauthor: Ann", "\t# note", '\tversion: "1"');
  const after = skill("description: Text.", "metadata:", "  author: Ann", "  # note", '  version: "1"');
  expect(await fix(before)).toBe(after);
});

test("numbers where text belongs get quotes as they were written", async () => {
  const before = skill(
    "description: Text.",
    "license: 2.50 # x",
    "metadata:",
    "  version: 1.50",
    "  beta: true",
  );
  const after = skill(
    "description: Text.",
    'license: "2.50" # x',
    "metadata:",
    '  version: "1.50"',
    '  beta: "true"',
  );
  expect(await fix(before)).toBe(after);
});

test("a list where text belongs becomes text in quotes, and a line where a list belongs a list", async () => {
  expect(await fix(skill("description: Text.", "argument-hint: [file]", "env: A_KEY B_KEY"))).toBe(
    skill("description: Text.", 'argument-hint: "[file]"', "env:", "  - A_KEY", "  - B_KEY"),
  );
});

test("booleans and numbers in words become themselves", async () => {
  expect(await fix(skill("description: Text.", "sensitive: yes", 'max-iterations: "7"'))).toBe(
    skill("description: Text.", "sensitive: true", "max-iterations: 7"),
  );
});

test("a missing name is added from the directory", async () => {
  expect(await fix("---\ndescription: Text.\n---\nBody\n")).toBe(
    "---\nname: demo\ndescription: Text.\n---\nBody\n",
  );
});

test("fences that are glued or missing are put in their place", async () => {
  expect(await fix("---\nname: demo\ndescription: Text.\n---# Body\n")).toBe(skill("description: Text."));
  expect(await fix("---\nname: demo\ndescription: Text.\n\n# Body\n")).toBe(skill("description: Text."));
  expect(await fix("name: demo\ndescription: Text.\n\n# Body\n")).toBe(skill("description: Text."));
});

test("a key that is repeated with the same value goes, one with another value stays", async () => {
  expect(await fix(skill("description: Text.", "license: MIT", "license: MIT"))).toBe(
    skill("description: Text.", "license: MIT"),
  );
  const different = skill("description: Text.", "license: MIT", "license: GPL");
  expect(await fix(different)).toBe(different);
});

test("letter case of keys is put right", async () => {
  expect(await fix("---\nName: demo\nDescription:  Text.\n---\nBody\n")).toBe(
    "---\nname: demo\ndescription:  Text.\n---\nBody\n",
  );
});

test("under `strict`, a list of tools becomes one line", async () => {
  const list = skill("description: Text.", "allowed-tools:", "  - Bash(git log:*)", "  - Read");
  expect(await fix(list)).toBe(list);
  expect(await fix(list, "strict")).toBe(skill("description: Text.", "allowed-tools: Bash(git log:*) Read"));
  expect(await fix(skill("description: Text.", "allowed-tools: Read, Write"), "strict")).toBe(
    skill("description: Text.", "allowed-tools: Read Write"),
  );
});

test("what a fix would lose is left to the author", async () => {
  for (const text of [
    skill("description: Text.", "argument-hint: [file] # a note"),
    skill("description: Text.", "name-of-nothing: x"),
    "# No frontmatter\n",
    "",
  ]) {
    expect(await fix(text)).toBe(text);
  }
});

test("fields that nobody knows keep their value, whatever they are called", async () => {
  expect(await fix(skill("description: Text.", "constructor: a: b", "slug: c: d"))).toBe(
    skill("description: Text.", 'constructor: "a: b"', 'slug: "c: d"'),
  );
});

test("a text of several lines is written as a block", async () => {
  const before = skill("description: >- Reads files.", "  And: writes them.", "", "  Twice.");
  expect(await fix(before)).toBe(skill("description: |-", "  Reads files. And: writes them.", "  Twice."));
});
