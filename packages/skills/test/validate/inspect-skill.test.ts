import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { findLinks } from "../../src/parse/body.ts";
import type { ParsedSkill } from "../../src/skill/skill.ts";
import { checkLinks, inspectSkill, noteFields } from "../../src/validate/inspect-skill.ts";
import { fields, findings, parsedSkill } from "./parsed-skill.ts";

function skillOnDisk(body: string): ParsedSkill {
  const root = temporaryFolder();
  writeTree(root, { "demo/references/guide.md": "x", "demo/my file.md": "x", "other.md": "x" });
  const directory = join(root, "demo");
  const parsed = parsedSkill(fields(), { body });
  return { ...parsed, candidate: { ...parsed.candidate, directory, file: join(directory, "SKILL.md") } };
}

test("links to files of the skill are sound", () => {
  const body =
    "[a](references/guide.md#top) ![b](./my%20file.md 'Title')\n\n[c]: <my file.md>\n[d](references)";
  expect(checkLinks(skillOnDisk(body), "standard")).toEqual([]);
});

verifies(55, "links that lead nowhere or out of the folder are warnings with their line", () => {
  const body = "Text.\n[a](missing.md)\n\n[b](../other.md) and [c](/etc/passwd)";
  expect(checkLinks(skillOnDisk(body), "standard")).toMatchObject([
    {
      code: "reference.dangling",
      severity: "warning",
      line: 6,
      message: expect.stringContaining("`missing.md`"),
    },
    { code: "reference.outside", line: 8, message: expect.stringContaining("`../other.md`") },
    { code: "reference.outside", line: 8, message: expect.stringContaining("`/etc/passwd`") },
  ]);
});

test("addresses, fragments, placeholders and code are not links to files", () => {
  const body = [
    "[a](https://example.com/x) [b](#part) [c](mailto:a@b.c) [d]({baseDir}/x.md) [e]($HOME/y)",
    "`[f](none.md)` and ``[g](`none`.md)``",
    "```md",
    "[h](none.md)",
    "````",
    "~~~",
    "[i](none.md)",
    "~~~",
    "Not [closed](none.md",
    "[^1]: notes/none.md",
    "[Note]: this is e.g. a sentence.",
  ].join("\n");
  expect(findLinks(body)).toEqual([]);
});

test("links with parentheses and titles are read to their end", () => {
  expect(findLinks('[a](x_(y).md "t") [b](z.md)')).toEqual([
    { path: "x_(y).md", line: 1 },
    { path: "z.md", line: 1 },
  ]);
});

test("a link that does not end takes nothing from the one after it", () => {
  expect(findLinks("[a](x(y [b](<c [d](z.md) [![e](f.png)](g.md)")).toEqual(
    ["x(y", "z.md", "f.png", "g.md"].map((path) => ({ path, line: 1 })),
  );
});

test("links beyond the limit are not checked", () => {
  const body = "[a](references/guide.md)\n".repeat(500);
  expect(checkLinks(skillOnDisk(body), "standard")).toEqual([]);
  expect(checkLinks(skillOnDisk(`${body}[a](references/guide.md)`), "standard")).toMatchObject([
    { code: "reference.limit", severity: "info", message: expect.stringContaining("more than 500 links") },
  ]);
});

verifies(11, "one note names the fields that other clients do not know, and who knows them", () => {
  const [note, ...more] = noteFields(
    parsedSkill(fields({ "opt-in": true, when_to_use: "Now." })),
    "standard",
  );
  expect(note).toMatchObject({ code: "field.not-portable", severity: "info", line: 4 });
  expect(note?.message).toContain("`opt-in` (Metier), `when_to_use` (Claude Code)");
  expect(more).toEqual([]);
});

test("one note names the fields that this version does not act on", () => {
  const notes = noteFields(parsedSkill(fields({ background: true, model: "fast" })), "standard");
  expect(notes).toMatchObject([
    { code: "field.not-portable" },
    { code: "field.not-honoured", message: "This version reads but does not use `background`." },
  ]);
});

verifies([47, 48], "inspecting adds notes and links to what the rules say", () => {
  const parsed = skillOnDisk("[a](missing.md)");
  const checked = inspectSkill({ ...parsed, frontmatter: fields({ background: true }) }, "standard");
  expect(findings(checked)).toEqual([
    "info field.not-honoured",
    "info field.not-portable",
    "warning reference.dangling",
  ]);
  expect(checked).toMatchObject({ valid: true, manifest: { background: true } });
});
