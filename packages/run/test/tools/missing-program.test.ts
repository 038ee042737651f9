import type { CommandOutcome } from "@metier/sandbox";
import { describe, expect, test } from "vitest";
import { explainMissing, findMissingProgram } from "../../src/tools/run-command.ts";

const ended = (stderr: string, exitCode = 127): CommandOutcome => ({
  ended: "exited",
  exitCode,
  stdout: "",
  stderr,
  droppedBytes: 0,
  durationMs: 1,
});

const FULL = { runsPrograms: true };

describe("a program that is not there", () => {
  test.each([
    ["bash: line 1: uvx: command not found\n", "uvx"],
    ["/skills/a/x.sh: line 12: jq: command not found\n", "jq"],
    ["sh: 1: uv: not found\n", "uv"],
    ["/skills/a/x.sh: 2: pdftotext: not found\n", "pdftotext"],
    ["env: ‘deno’: No such file or directory\n", "deno"],
    ["env: 'bun': No such file or directory\n", "bun"],
    ["ruby: No such file or directory\n", "ruby"],
    ["prlimit: failed to execute ruby: No such file or directory\n", "ruby"],
    ["warning: x\nbash: line 1: g++: command not found\nmore\n", "g++"],
  ])("is named by %j", (stderr, program) => {
    expect(findMissingProgram(ended(stderr), FULL)).toBe(program);
  });

  test("is not assumed where a command ended for another reason", () => {
    expect(findMissingProgram(ended("cat: x.txt: No such file or directory\n", 1), FULL)).toBeUndefined();
    expect(findMissingProgram(ended("bash: ./x.sh: No such file or directory\n"), FULL)).toBeUndefined();
    expect(findMissingProgram(ended("something else\n"), FULL)).toBeUndefined();
  });

  test("is not looked for in a shell without programs, which says itself what it has", () => {
    const outcome = ended("bash: jq: command not found\n");
    expect(findMissingProgram(outcome, { runsPrograms: false })).toBeUndefined();
  });

  test("is explained with where programs come from", () => {
    expect(explainMissing("ruby")).toBe(
      'The sandbox has no `ruby`. Install it; if it is not below `/usr`, add it to your config: `[sandbox] programs = ["ruby"]`. `metier doctor` lists the programs in the sandbox.',
    );
    expect(explainMissing("uvx")).toContain("https://docs.astral.sh/uv/");
  });
});
