import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { check, fields, findings } from "./parsed-skill.ts";

verifies([13, 44, "case 19"], "a description has 1 to 1024 characters", () => {
  expect(findings(check(fields({ description: "x".repeat(1024) }), "strict"))).toEqual([]);
  expect(findings(check(fields({ description: "x".repeat(1025) }), "strict"))).toEqual([
    "error description.too-long",
  ]);
  expect(findings(check(fields({ description: "😀".repeat(1024) }), "strict"))).toEqual([]);
  const long = check(fields({ description: "x".repeat(1025) }));
  expect(findings(long)).toEqual(["warning description.too-long"]);
  expect(long.manifest?.description).toHaveLength(1025);
});

verifies([13, 51, "case 17", "case 19"], "nothing loads without a description", () => {
  for (const description of ["", "  \n", null]) {
    const checked = check(fields({ description }));
    expect(checked.manifest).toBeUndefined();
    expect(findings(checked)).toEqual(["error description.missing"]);
  }
  expect(check({ name: "demo" }).diagnostics[0]?.hint).toContain("Add a `description:`");
});

test("a description with a tag is noted", () => {
  expect(findings(check(fields({ description: "Makes <b>bold</b> text." })))).toEqual([
    "info description.markup",
  ]);
  expect(findings(check(fields({ description: "For a < b and c > d." })))).toEqual([]);
});

verifies([45, "case 19"], "`compatibility` has 1 to 500 characters", () => {
  expect(findings(check(fields({ compatibility: "x".repeat(500) }), "strict"))).toEqual([]);
  expect(findings(check(fields({ compatibility: "x".repeat(501) }), "strict"))).toEqual([
    "error compatibility.too-long",
  ]);
  expect(findings(check(fields({ compatibility: "x".repeat(501) })))).toEqual([
    "warning compatibility.too-long",
  ]);
  for (const compatibility of ["", " ", null]) {
    expect(findings(check(fields({ compatibility }), "strict"))).toEqual(["error compatibility.empty"]);
  }
  expect(check(fields({ compatibility: "" })).manifest?.compatibility).toBeUndefined();
});

verifies([52, "case 11"], "an empty or very long body loads with a warning", () => {
  expect(findings(check(fields(), "standard", { body: "" }))).toEqual(["warning body.empty"]);
  const long = check(fields(), "standard", { body: "x".repeat(20_001) });
  expect(findings(long)).toEqual(["warning body.too-long"]);
  expect(long.manifest).toBeDefined();
  expect(findings(check(fields(), "standard", { body: "x".repeat(20_000) }))).toEqual([]);
});

test("a body over 500 lines has a warning at the line where it begins", () => {
  const checked = check(fields(), "standard", { body: "x\n".repeat(501).trimEnd() });
  expect(checked.diagnostics).toMatchObject([{ code: "body.too-many-lines", line: 5 }]);
  expect(checked.body).toEqual({ lines: 501, characters: 1001 });
  expect(check(fields(), "standard", { body: "" }).body).toEqual({ lines: 0, characters: 0 });
});
