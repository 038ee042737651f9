import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { validateSkill } from "../../src/validate/validate-skill.ts";
import { check, fields, findings, manifestOf, parsedSkill } from "./parsed-skill.ts";

verifies([9, 12, "case 17"], "a missing name is taken from the directory, and that is said", () => {
  const checked = check({ description: "Text." });
  expect(checked.manifest?.name).toBe("demo");
  expect(findings(checked)).toEqual(["info name.missing"]);
  expect(findings(check({ description: "Text." }, "strict"))).toEqual(["error name.missing"]);
});

verifies(9, "a missing name of a flat file is taken from the file", () => {
  const parsed = parsedSkill({ description: "Text." }, { form: "markdown" });
  const candidate = { ...parsed.candidate, defaultName: "from-file" };
  expect(validateSkill({ ...parsed, candidate }, "standard").manifest?.name).toBe("from-file");
});

verifies(["case 17", 49], "a missing name and a missing description are both reported", () => {
  expect(findings(check({}, "strict"))).toEqual(["error description.missing", "error name.missing"]);
});

verifies(
  [41, 42, "case 15"],
  "a name outside the grammar loads in its normal form and keeps its own for display",
  () => {
    const checked = check(fields({ name: "PDF Processing" }), "standard", { directory: "pdf-processing" });
    expect(checked.manifest).toMatchObject({ name: "pdf-processing", displayName: "PDF Processing" });
    expect(findings(checked)).toEqual(["warning name.grammar"]);
    expect(checked.diagnostics[0]).toMatchObject({ line: 2, message: expect.stringContaining("spaces") });
  },
);

verifies([41, 42, "case 15"], "`strict` refuses every name outside the grammar", () => {
  const bad = ["x".repeat(65), "Pdf", "a_b", "a b", "-a", "a-", "a--b", "a/b", "a\\b", "..", "."];
  for (const name of bad) {
    const checked = check(fields({ name }), "strict", { directory: name });
    expect(findings(checked), name).toContain("error name.grammar");
    expect(checked.manifest, name).toBeUndefined();
  }
  for (const name of ["a", "42", "x".repeat(64)]) {
    expect(check(fields({ name }), "strict", { directory: name }).valid, name).toBe(true);
  }
});

test("a name that normalises to nothing becomes the directory's", () => {
  expect(manifestOf(fields({ name: "../.." })).name).toBe("demo");
  expect(manifestOf(fields({ name: "!" }), { directory: "?" }).name).toBe("skill");
});

test("a directory outside the grammar gives its normal form", () => {
  expect(manifestOf({ description: "Text." }, { directory: "My Skill" })).toMatchObject({
    name: "my-skill",
    displayName: "My Skill",
  });
});

verifies(
  [43, "case 16"],
  "a name that differs from the directory loads under its own name, and both are named",
  () => {
    const checked = check(fields({ name: "other" }));
    expect(checked.manifest?.name).toBe("other");
    expect(findings(checked)).toEqual(["warning name.not-directory"]);
    expect(checked.diagnostics[0]?.message).toMatch(/`other`.*`demo`/);
    expect(check(fields({ name: "other" }), "strict").valid).toBe(false);
    expect(check(fields({ name: "Other One" })).diagnostics[1]).toMatchObject({
      message: "`name` is `Other One`, but the directory is named `demo`.",
      hint: "Rename the directory to `other-one`, or change `name`.",
    });
  },
);

verifies(43, "names and directories are compared in one Unicode form", () => {
  const checked = check(fields({ name: "cafe\u0301" }), "strict", { directory: "caf\u00e9" });
  expect(findings(checked)).toEqual(["warning name.not-plain"]);
  expect(checked.manifest?.name).toBe("caf\u00e9");
});

test("a name that is outside the grammar like its directory is not said to differ from it", () => {
  expect(findings(check(fields({ name: "My_Skill" }), "standard", { directory: "My_Skill" }))).toEqual([
    "warning name.grammar",
  ]);
});

test("flat files are not compared with their directory", () => {
  expect(findings(check(fields({ name: "other" }), "standard", { form: "markdown" }))).toEqual([]);
});

test("a number for a name is the name in digits", () => {
  const checked = check(fields({ name: 8004 }), "strict", { directory: "8004" });
  expect(checked.manifest?.name).toBe("8004");
  expect(findings(checked)).toEqual(["warning field.scalar-for-text"]);
});

test("words that a client reserves are noted", () => {
  expect(
    findings(check(fields({ name: "claude-helper" }), "standard", { directory: "claude-helper" })),
  ).toEqual(["info name.reserved"]);
});
