import { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "@metier/base/diagnostic";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { findManifestField } from "../../src/skill/manifest-fields.ts";
import { inspectSkill } from "../../src/validate/inspect-skill.ts";
import { SEVERITIES } from "../../src/validate/profiles.ts";
import { FIELD_RULES, SKILL_FILE_RULES } from "../../src/validate/validate-skill.ts";
import { check, fields, findings, parsedSkill } from "./parsed-skill.ts";

const NO_FRONTMATTER: Diagnostic = {
  code: "frontmatter.missing",
  severity: "error",
  message: "The file does not start with frontmatter.",
  path: "/skills/demo/SKILL.md",
  line: 1,
};

test("a sound skill is valid under every profile and draws no diagnostic", () => {
  for (const profile of ["strict", "standard", "lenient"] as const) {
    expect(check(fields(), profile)).toMatchObject({
      valid: true,
      diagnostics: [],
      manifest: { name: "demo" },
    });
  }
});

verifies(
  [6, 53],
  "a file without readable frontmatter does not load, and what the parser found is passed on",
  () => {
    for (const profile of ["strict", "standard"] as const) {
      const checked = check(undefined, profile, { diagnostics: [NO_FRONTMATTER] });
      expect(checked).toMatchObject({ valid: false, diagnostics: [NO_FRONTMATTER] });
      expect(checked.manifest).toBeUndefined();
    }
  },
);

test("what the parser repaired weighs what the profile says", () => {
  const repaired: Diagnostic = { ...NO_FRONTMATTER, code: "yaml.repaired", severity: "warning" };
  const severities = (["strict", "standard", "lenient"] as const).map(
    (profile) => check(fields(), profile, { diagnostics: [repaired] }).diagnostics[0]?.severity,
  );
  expect(severities).toEqual(["error", "warning", "info"]);
});

test("`lenient` loads whatever has a body and describes it by its first paragraph", () => {
  const body = "# Weather\n\nTells the weather\nof a place.\n\nMore.";
  const checked = check(undefined, "lenient", { body });
  expect(checked.manifest).toMatchObject({ name: "demo", description: "Tells the weather of a place." });
  expect(check({ name: "demo" }, "lenient", { body: "# Weather" }).manifest?.description).toBe("Weather");
});

test("`lenient` does not load what has neither a description nor a body", () => {
  const checked = check({ name: "demo" }, "lenient", { body: "" });
  expect(checked.manifest).toBeUndefined();
  expect(findings(checked)).toContain("error skill-file.empty");
});

verifies([49, 48, "case 18"], "all problems are reported, in the order of their lines", () => {
  const checked = check(
    { name: "Bad Name", bogus: 1, sensitive: "maybe", capabilities: ["email"] },
    "standard",
    {
      body: "",
    },
  );
  expect(checked.diagnostics.map(({ line, code }) => `${line} ${code}`)).toEqual([
    "1 description.missing",
    "2 name.grammar",
    "2 name.not-directory",
    "3 field.unknown",
    "4 field.wrong-type",
    "5 capability.not-namespaced",
    "7 body.empty",
  ]);
  expect(checked.valid).toBe(false);
});

test("the name of the skill file is checked in its exact case", () => {
  expect(findings(check(fields(), "strict", { file: "skill.md" }))).toEqual([]);
  for (const file of ["Skill.md", "SKILL.MD"]) {
    expect(findings(check(fields(), "strict", { file }))).toEqual(["error skill-file.name"]);
    expect(findings(check(fields(), "standard", { file }))).toEqual(["warning skill-file.name"]);
  }
});

test("a skill given as an object has no file to complain about", () => {
  const parsed = parsedSkill(fields(), { body: "[a](nowhere.md)" });
  const candidate = { ...parsed.candidate, file: "", directory: "" };
  expect(inspectSkill({ ...parsed, candidate }, "standard").diagnostics).toEqual([]);
});

verifies([2, 3], "flat files load, but not under `strict`", () => {
  for (const form of ["markdown", "yaml"] as const) {
    expect(check(fields(), "standard", { form })).toMatchObject({ valid: true, manifest: { name: "demo" } });
    expect(findings(check(fields(), "strict", { form }))).toEqual(["error skill-file.flat"]);
  }
});

test("every code that a rule can report has a severity in every profile", () => {
  for (const code of [...SKILL_FILE_RULES, ...FIELD_RULES].flatMap((rule) => rule.codes)) {
    expect(SEVERITIES[code], code).toHaveLength(3);
    expect(DIAGNOSTIC_CODES[code], code).toMatch(/\.$/);
  }
});

test("rules about fields name fields that exist, and there is a bit for each rule", () => {
  for (const name of FIELD_RULES.flatMap((rule) => rule.fields ?? [])) {
    expect(findManifestField(name)?.name).toBe(name);
  }
  expect(FIELD_RULES.length).toBeLessThan(32);
});

test("every code about a skill file has a severity in every profile", () => {
  const ungraded = Object.keys(DIAGNOSTIC_CODES)
    .filter((code) =>
      /^(?:frontmatter|yaml|text|instructions|skill-file|field|name|body|reference)\./.test(code),
    )
    .filter((code) => SEVERITIES[code as DiagnosticCode] === undefined);
  expect(ungraded).toEqual([]);
});

test("no profile is milder than the one before it in the list", () => {
  const weight = { off: 0, info: 1, warning: 2, error: 3 };
  for (const [code, [strict, standard, lenient]] of Object.entries(SEVERITIES)) {
    if (code === "field.not-portable") continue;
    expect(weight[strict], code).toBeGreaterThanOrEqual(weight[standard]);
    expect(weight[standard], code).toBeGreaterThanOrEqual(weight[lenient]);
  }
});
