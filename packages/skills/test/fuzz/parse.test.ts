/** Any bytes at all: the parser answers, says where, and takes time in proportion. */
import { hasErrors } from "@metier/base/diagnostic";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseSkill } from "../../src/parse/parse-skill.ts";
import { repairYaml } from "../../src/parse/repair-yaml.ts";
import { splitFrontmatter } from "../../src/parse/split-frontmatter.ts";
import type { ParsedSkill, SkillForm } from "../../src/skill/skill.ts";
import { mutatedDocument } from "../parse/yaml-documents.ts";

const LONG_RUN = Number(process.env.METIER_FUZZ_RUNS ?? 0);

const anyText = fc.string({ unit: "binary", maxLength: 200 });
const fenceText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "---",
        "--- ",
        "---#",
        " ---",
        "----",
        "```",
        "```yaml",
        "<!--",
        "-->",
        "",
        " ",
        "# H",
        "\uFEFF",
        "\\n",
      ),
      fc.constantFrom(
        "name: a",
        "description: b: c",
        "- d",
        "  e: f",
        "text",
        "x: |",
        'y: "',
        "z: [",
        "\tt: u",
        "name：v",
      ),
      fc.string({ unit: "binary", maxLength: 20 }),
    ),
    { maxLength: 14 },
  )
  .chain((lines) => fc.constantFrom("\n", "\n", "\r\n", "\r").map((lineEnd) => lines.join(lineEnd)));
const skillText = fc.tuple(mutatedDocument, fenceText).map(([yaml, body]) => `---\n${yaml}---\n${body}`);
const forms = fc.constantFrom<SkillForm>("directory", "markdown", "yaml");

async function parse(text: string, form: SkillForm = "directory"): Promise<ParsedSkill> {
  return await parseSkill({ form, file: "/x/SKILL.md", directory: "/x", defaultName: "x" }, text);
}

test("any text becomes a parsed skill, or one without frontmatter and with an error", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(anyText, fenceText, skillText), forms, async (text, form) => {
      const { frontmatter, body, bodyLine, diagnostics } = await parse(text, form);
      const lines = text.split(/\r\n|\r|\n|\\n/).length;
      expect(bodyLine).toBeGreaterThanOrEqual(1);
      expect(bodyLine).toBeLessThanOrEqual(lines + 1);
      expect(body).toBe(body.trimEnd());
      expect(body).not.toContain("\r");
      if (frontmatter === undefined)
        expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
      else expect(JSON.parse(JSON.stringify(frontmatter))).toEqual(frontmatter);
      for (const { line = 1, column = 1, message } of diagnostics) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(lines + 1);
        expect(column).toBeGreaterThanOrEqual(1);
        expect(message.length).toBeLessThan(1000);
      }
    }),
    { numRuns: LONG_RUN || 3000 },
  );
});

test("splitting loses no line of the body", () => {
  fc.assert(
    fc.property(fc.oneof(fenceText, skillText), (text) => {
      const { text: whole, body, bodyLine } = splitFrontmatter(text);
      const first = whole
        .split("\n")
        .slice(bodyLine - 1)
        .join("\n");
      expect(first.includes(body)).toBe(true);
    }),
    { numRuns: LONG_RUN || 3000 },
  );
});

test("repairing any text gives data or nothing", () => {
  fc.assert(
    fc.property(fc.oneof(anyText, mutatedDocument, fenceText), (text) => {
      const repaired = repairYaml(text.replaceAll("\r", ""), 1);
      if (repaired !== undefined) expect(Object.keys(repaired.value).length).toBeGreaterThan(0);
    }),
    { numRuns: LONG_RUN || 1500 },
  );
});

/** Each would take hours in a parser that goes back and forth; a hang fails the test by its timeout. */
const UNITS = [
  "-",
  ": ",
  "\t",
  '"',
  "'",
  "[",
  "{a: ",
  "- ",
  " ",
  "\n",
  "a: b: c\n",
  "# h\n",
  "---\n",
  "`",
  "<!--",
  "\\",
  "\u200b",
  'k: "\n',
];

test.each(UNITS)("a megabyte of %j ends", async (unit) => {
  const million = unit.repeat(Math.ceil(1_000_000 / unit.length));
  for (const text of [million, `---\n${million}`, `---\n${million}\n---\n`]) {
    expect(hasErrors((await parse(text)).diagnostics)).toBe(true);
  }
  const { frontmatter, diagnostics } = await parse(`---\nname: ${million.slice(0, 12_000)}\n---\n`);
  expect(frontmatter ?? diagnostics[0], "is read or explained").toBeDefined();
});
