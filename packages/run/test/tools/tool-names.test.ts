import { expect, test } from "vitest";
import { readToolName, TOOL_NAMES } from "../../src/tools/tool.ts";

test("names of other systems mean ours, whatever their letter case, hyphens and underscores", () => {
  const names: Readonly<Record<string, string>> = {
    Bash: "bash",
    run_bash: "bash",
    Read: "read_file",
    Write: "write_file",
    Edit: "edit_file",
    MultiEdit: "edit_file",
    Glob: "list_files",
    LS: "list_files",
    Grep: "grep_search",
    WebFetch: "web_fetch",
    "web-search": "web_search",
    Skill: "use_skill",
    AskUserQuestion: "ask_user",
    READ_FILE: "read_file",
  };
  for (const [written, ours] of Object.entries(names)) expect(readToolName(written).name, written).toBe(ours);
  for (const name of TOOL_NAMES) expect(readToolName(name)).toEqual({ name, known: "ours", near: [] });
});

test("a tool of the host is matched exactly and wins over a meaning of ours", () => {
  expect(readToolName("Shell", ["Shell"])).toEqual({ name: "Shell", known: "host", near: [] });
  expect(readToolName("Shell").name).toBe("bash");
  expect(readToolName("lookup", ["Lookup"])).toMatchObject({
    name: "lookup",
    known: "unknown",
    near: ["Lookup"],
  });
});

test("globs and names of servers stay as they are", () => {
  for (const name of ["*", "mcp__github__*", "mcp__github", "mcp__github__search"]) {
    expect(readToolName(name)).toEqual({ name, known: "pattern", near: [] });
  }
});

test("what nothing here does is told from what nobody knows", () => {
  expect(readToolName("TodoWrite").known).toBe("elsewhere");
  expect(readToolName("web_fech")).toMatchObject({ name: "web_fech", known: "unknown", near: ["web_fetch"] });
  expect(readToolName("constructor").known).toBe("unknown");
});
