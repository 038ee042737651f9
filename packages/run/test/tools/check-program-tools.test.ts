import { UsageError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { programTool } from "../../../../test/support/scripted-runs.ts";
import { checkProgramTools, ownTool } from "../../src/tools/tool.ts";

const named = (...names: readonly string[]) => names.map((name) => ({ name }));

describe("the names of a program's tools", () => {
  test("may be plain, or carry the name of a skill or a server", () => {
    const owned = [
      ownTool("pdf-forms", programTool("extract", "")),
      ownTool("日本", programTool("read", "")),
      ownTool("x".repeat(64), programTool("extract", "")),
    ];
    const names = [...owned.map(({ name }) => name), "look", "look_2", "mcp__github__createIssue"];
    expect(() => checkProgramTools(named(...names))).not.toThrow();
  });

  for (const name of ["", "Look", "look here", "look-up", "2look", "look\n", "x".repeat(65), "a__\u202Eb"]) {
    test(`are not ${JSON.stringify(name)}`, () => {
      expect(() => checkProgramTools(named(name))).toThrow(UsageError);
    });
  }

  test("are not one of Metier's own", () => {
    expect(() => checkProgramTools(named("bash"))).toThrow("one of Metier's own");
  });

  test("are not given twice", () => {
    expect(() => checkProgramTools(named("look", "see", "look"))).toThrow("Two tools are called");
  });
});
