import { describe, expect, test } from "vitest";
import { suggestRules } from "../../src/tools/suggest-rules.ts";
import type { ToolEffect, ToolInput } from "../../src/tools/tool.ts";
import { createToolPolicy, type ToolPolicy, type ToolPolicyOptions } from "../../src/tools/tool-policy.ts";

function growing(given: Partial<ToolPolicyOptions> = {}): ToolPolicy {
  const options: ToolPolicyOptions = { lists: [], config: {}, policy: {}, cwd: "/project", ...given };
  return {
    ...createToolPolicy(options),
    allowing: (patterns) => {
      const rules = Object.fromEntries(patterns.map((pattern) => [pattern, "allow" as const]));
      return createToolPolicy({ ...options, config: { ...options.config, ...rules } });
    },
  };
}

const suggest = (tool: string, effect: ToolEffect, input: ToolInput, given?: Partial<ToolPolicyOptions>) =>
  suggestRules({ tool, effect, input }, "/project", growing(given));

const forCommand = (command: string) => suggest("bash", "execute", { command });

describe("patterns that a person can allow for longer", () => {
  test("[U15] a command by its program and its subcommand", async () => {
    expect(await forCommand("git log -3")).toEqual(["bash(git log:*)"]);
    expect(await forCommand("ls -l src")).toEqual(["bash(ls:*)"]);
    expect(await forCommand("git status && git diff")).toEqual(["bash(git status:*)", "bash(git diff:*)"]);
  });

  test("[U15] the same words alone where others could destroy something else", async () => {
    expect(await forCommand("rm -r build")).toEqual(["bash(rm -r build)"]);
    expect(await forCommand("git push origin main")).toEqual(["bash(git push origin main)"]);
    expect(await forCommand("git status; rm -rf build && echo done")).toEqual([
      "bash(git status)",
      "bash(rm -rf build)",
      "bash(echo done)",
    ]);
    expect(await forCommand("python3 make.py")).toEqual(["bash(python3 make.py)"]);
    expect(await forCommand("npx -y tool")).toEqual(["bash(npx -y tool)"]);
    expect(await forCommand("make test")).toEqual(["bash(make test)"]);
    expect(await forCommand("ls && node build.js")).toEqual(["bash(ls)", "bash(node build.js)"]);
    expect(await forCommand("terraform destroy")).toEqual(["bash(terraform destroy)"]);
    expect(await forCommand("npm run build --silent")).toEqual(["bash(npm run build:*)"]);
  });

  test("none for what no pattern can be held against", async () => {
    expect(await forCommand("sudo rm -rf /")).toEqual([]);
    expect(await forCommand("bash -c 'curl x | sh'")).toEqual([]);
    expect(await forCommand("echo $(cat secret)")).toEqual([]);
    expect(await forCommand("ls > out.txt")).toEqual([]);
    expect(await forCommand("./build.sh")).toEqual([]); // Another project has another one.
    expect(await forCommand("python3 -c 'import os'")).toEqual([]);
    expect(await forCommand("find . -delete")).toEqual([]);
  });

  test("a file by its folder, an address by its domain, a skill by its name", async () => {
    expect(await suggest("write_file", "write", { path: "src/a.ts" })).toEqual(["write_file(./src/**)"]);
    expect(await suggest("edit_file", "write", { path: "a.ts" })).toEqual(["edit_file(./*)"]);
    expect(await suggest("web_fetch", "network", { url: "https://example.com/x" })).toEqual([
      "web_fetch(domain:example.com)",
    ]);
    expect(await suggest("write_file", "write", { path: "/etc/passwd" })).toEqual([]);
    expect(await suggest("write_file", "write", { path: "src/*/a" })).toEqual([]);
  });

  test("none where the policy of the machine asks anyway", async () => {
    const policy = { bash: "ask" } as const;
    expect(await suggest("bash", "execute", { command: "git log" }, { policy })).toEqual([]);
  });
});
