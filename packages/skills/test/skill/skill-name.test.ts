import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  isPlainSkillName,
  isSkillName,
  normaliseSkillName,
  skillNameFaults,
} from "../../src/skill/skill-name.ts";

verifies([41, 42, "case 15"], "lower-case words joined by single hyphens are names", () => {
  for (const name of ["a", "7", "pdf", "pdf-2-text", "x".repeat(64), "会议纪要", "straße", "8004"]) {
    expect(isSkillName(name), name).toBe(true);
    expect(skillNameFaults(name), name).toEqual([]);
  }
});

verifies([41, 42, "case 15"], "everything else is not a name, and the fault is said", () => {
  const faults: Readonly<Record<string, string>> = {
    "": "is empty",
    ["x".repeat(65)]: "has 65 characters",
    Pdf: "contains capital letters",
    pdf_tool: "contains `_`",
    "pdf tool": "contains spaces",
    "-pdf": "starts or ends with a hyphen",
    "pdf-": "starts or ends with a hyphen",
    "pdf--tool": "has two hyphens in a row",
    "a/b": "contains `/`",
    "a\\b": "contains `\\`",
    "..": "contains `.`",
    ".": "contains `.`",
    "a\nb": "contains U+000A",
  };
  for (const [name, fault] of Object.entries(faults)) {
    expect(isSkillName(name), name).toBe(false);
    expect(skillNameFaults(name), name).toContain(fault);
  }
});

test("a name outside the grammar has a nearest name in it", () => {
  expect(normaliseSkillName("PDF Processing")).toBe("pdf-processing");
  expect(normaliseSkillName("  __CI/CD -- Pipeline!! ")).toBe("ci-cd-pipeline");
  expect(normaliseSkillName("virtual-agent/ios")).toBe("virtual-agent-ios");
  expect(normaliseSkillName("ｆｕｌｌ Ｗｉｄｔｈ")).toBe("full-width");
  expect(normaliseSkillName("每日推荐 Daily")).toBe("每日推荐-daily");
  expect(normaliseSkillName("../..")).toBe("");
});

test("a long name is cut to 64 characters and keeps no hyphen at its end", () => {
  expect(normaliseSkillName(`${"a".repeat(63)} b`)).toBe("a".repeat(63));
});

test("plain names have ASCII letters only", () => {
  expect(isPlainSkillName("pdf-2")).toBe(true);
  expect(isPlainSkillName("straße")).toBe(false);
});
