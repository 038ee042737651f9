import type { Json } from "@metier/base/json";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findLinks } from "../../src/parse/body.ts";
import { parseSkill } from "../../src/parse/parse-skill.ts";
import { MANIFEST_FIELDS } from "../../src/skill/manifest-fields.ts";
import type { ParsedSkill, SkillCandidate } from "../../src/skill/skill.ts";
import { isSkillName } from "../../src/skill/skill-name.ts";
import { fixSkill } from "../../src/validate/fix-skill.ts";
import { inspectSkill } from "../../src/validate/inspect-skill.ts";
import { PROFILES } from "../../src/validate/profiles.ts";

const CANDIDATE: SkillCandidate = {
  form: "directory",
  file: "/nowhere/demo/SKILL.md",
  directory: "/nowhere/demo",
  defaultName: "demo",
};

const names = MANIFEST_FIELDS.map((field) => field.name);
const key = fc.oneof(
  fc.constantFrom(...names, "constructor", "toString", "Name"),
  fc.string({ maxLength: 12 }),
);
const value = fc.oneof(
  fc.string(),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom("yes", "1", "[a]", "a, b"),
);

test("any frontmatter is checked without throwing, and what loads has a name in the grammar and a description", () => {
  const frontmatter = fc.dictionary(key, value, { maxKeys: 8 });
  fc.assert(
    fc.property(frontmatter, fc.string(), fc.constantFrom(...PROFILES), (data, body, profile) => {
      const parsed: ParsedSkill = {
        candidate: CANDIDATE,
        frontmatter: data as Record<string, Json>,
        body,
        bodyLine: 3,
        position: () => undefined,
        written: () => undefined,
        diagnostics: [],
      };
      const { manifest, diagnostics, valid } = inspectSkill(parsed, profile);
      expect(valid).toBe(!diagnostics.some(({ severity }) => severity === "error"));
      if (manifest === undefined) expect(valid).toBe(false);
      else expect(isSkillName(manifest.name) && manifest.description !== "").toBe(true);
    }),
    { numRuns: 2000 },
  );
});

const line = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...names, "slug", "Description"),
      fc.constantFrom("a", "a: b", "[x", "1.0", "yes", "|", '"q', ""),
    )
    .map(([name, text]) => `${name}: ${text}`),
  fc.constantFrom("---", "", "# note", "\tindented: x", "  - item", "  nested: 2", "---# glued", "text"),
);

test("fixing any file keeps its body, throws nothing and needs no second time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.constantFrom("\n", "\r\n"), async (lines, end) => {
      const text = ["---", ...lines, "---", "Body"].join(end);
      const { text: fixed } = await fixSkill(text, CANDIDATE);
      const [before, after] = [await parseSkill(CANDIDATE, text), await parseSkill(CANDIDATE, fixed)];
      expect(after.body).toBe(before.body);
      expect(await fixSkill(fixed, CANDIDATE)).toEqual({ text: fixed, fixed: [] });
    }),
    { numRuns: 300 },
  );
});

/** None is a link, all look like one. A hang fails the test by its timeout. */
const NEAR_LINKS = {
  "links that open a bracket": "![](<",
  "links that open a bracket of another alphabet": "![](‹",
  "links that open parentheses": "](x(",
  "links without text": "](",
  "links to parts": "](#)",
  "definitions that open a bracket": "[a]: <",
  "definitions followed by a sentence": `[a]: ${"./".repeat(600)} x\n`,
  "labels, one a line": "[\n",
  "code spans that end in one another": "` ``](",
};

test.each(Object.entries(NEAR_LINKS))("four megabytes of %s end", (_, unit) => {
  expect(findLinks(unit.repeat(4_194_304 / unit.length))).toEqual([]);
});
