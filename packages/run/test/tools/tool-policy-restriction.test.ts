import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { answerTo, decide, lists, policy, visibleOf } from "./tool-policy-world.ts";

const ALL = [
  "bash",
  "read_file",
  "write_file",
  "grep_search",
  "use_skill",
  "mcp__github__search",
  "mcp__other__x",
];

describe("the tool list of an isolated run", () => {
  verifies([20, 153, "case 78"], "an absent and an empty list mean all the caller has", async () => {
    for (const own of [
      lists(),
      lists({ allowedTools: [] }),
      lists({ allowedTools: [], requiredTools: [] }),
    ]) {
      const free = policy({ lists: [own] });
      expect(visibleOf(free, ALL)).toEqual(ALL);
      expect(await answerTo(free, "read_file", "x")).toBe("allow");
    }
  });

  verifies(
    [18, 19, 144, 153, "case 78"],
    "a call outside the list is denied and told what is allowed",
    async () => {
      const restricted = policy({ lists: [lists({ allowedTools: ["Bash(git:*)", "Read"] })] });
      expect(visibleOf(restricted, ALL)).toEqual(["bash", "read_file"]);
      expect(await decide(restricted, "write_file", "x")).toEqual({
        answer: "deny",
        rule: "`write_file` is not listed in `allowed-tools` of skill `demo`",
        message:
          "`write_file` is not listed in `allowed-tools` of skill `demo`. Allowed: `Bash(git:*)`, `Read`.",
      });
      expect(await decide(restricted, "bash", "rm -rf x")).toMatchObject({
        answer: "deny",
        message: expect.stringMatching(/`rm -rf x` matches no pattern.*Allowed: `Bash\(git:\*\)`, `Read`\.$/),
      });
      expect(await answerTo(restricted, "bash", "git log; evil")).toBe("deny");
      expect(await answerTo(restricted, "bash", "git status")).toBe("allow");
    },
  );

  verifies(21, "`required-tools` restricts where `allowed-tools` is absent or empty", async () => {
    const required = { requiredTools: ["read_file", "bash"] };
    expect(visibleOf(policy({ lists: [lists(required)] }), ALL)).toEqual(["bash", "read_file"]);
    expect(visibleOf(policy({ lists: [lists({ ...required, allowedTools: [] })] }), ALL)).toEqual([
      "bash",
      "read_file",
    ]);
    expect(visibleOf(policy({ lists: [lists({ ...required, allowedTools: ["Grep"] })] }), ALL)).toEqual([
      "grep_search",
    ]);
  });

  verifies(157, "an untrusted skill only narrows", async () => {
    const own = lists({ trust: "untrusted", allowedTools: ["Bash(git:*)"] });
    const narrowed = policy({ lists: [own], config: { write_file: "allow" } });
    expect(visibleOf(narrowed, ALL)).toEqual(["bash"]);
    expect(await answerTo(narrowed, "bash", "ls")).toBe("deny");
    expect(await answerTo(narrowed, "write_file", "x")).toBe("deny");
    // Asked, and when it is approved still executed as the words that were checked.
    expect(await decide(narrowed, "bash", "git log")).toMatchObject({ answer: "ask", argv: ["git", "log"] });
  });

  test("a list on which nothing can be held leaves nothing", async () => {
    const broken = policy({ lists: [lists({ allowedTools: ["Bash(python*:*)", "Bash(git"] })] });
    expect(visibleOf(broken, ALL)).toEqual([]);
    expect(await answerTo(broken, "bash", "python x.py")).toBe("deny");
    expect(broken.diagnostics.map(({ code }) => code)).toEqual([
      "tools.scope-unenforceable",
      "tools.malformed",
    ]);
  });

  test("two lists both restrict: an agent's and its skill's", async () => {
    const agent = lists({ owner: "agent `reader`", allowedTools: ["Read", "Grep"] });
    const both = policy({ lists: [agent, lists({ allowedTools: ["Read", "Write"] })] });
    expect(visibleOf(both, ALL)).toEqual(["read_file"]);
    expect(await decide(both, "write_file", "x")).toMatchObject({
      message: expect.stringContaining("agent `reader`"),
    });
  });

  test("what a run needs for itself is not restricted, but can be denied", async () => {
    const own = lists({ allowedTools: ["Read"] });
    expect(visibleOf(policy({ lists: [own], unrestricted: ["use_skill"] }), ALL)).toEqual([
      "read_file",
      "use_skill",
    ]);
    const denied = policy({ lists: [{ ...own, disallowedTools: ["Skill"] }], unrestricted: ["use_skill"] });
    expect(visibleOf(denied, ALL)).toEqual(["read_file"]);
  });

  test("globs and servers name several tools", () => {
    expect(visibleOf(policy({ lists: [lists({ allowedTools: ["mcp__github"] })] }), ALL)).toEqual([
      "mcp__github__search",
    ]);
    expect(visibleOf(policy({ lists: [lists({ allowedTools: ["mcp__*"] })] }), ALL)).toEqual(ALL.slice(5));
    expect(visibleOf(policy({ lists: [lists({ disallowedTools: ["*"] })] }), ALL)).toEqual([]);
  });

  test("a configured deny without a scope makes a tool invisible, one with a scope does not", () => {
    const config = { write_file: "deny", "bash(rm:*)": "deny" } as const;
    expect(visibleOf(policy({ config }), ["bash", "write_file"])).toEqual(["bash"]);
    expect(visibleOf(policy({ policy: { bash: "deny" } }), ["bash", "write_file"])).toEqual(["write_file"]);
  });
});

describe("`disallowed-tools`", () => {
  test("a scoped pattern removes the calls it may mean, and what nobody can be certain of", async () => {
    const own = lists({ disallowedTools: ["Bash(git push:*)", "Bash(rm:*)"] });
    const careful = policy({ lists: [own], config: { bash: "allow" } });
    for (const command of [
      "git push",
      "git --no-pager push",
      "/usr/bin/git push -f",
      "git status && git push",
      "rm x",
      "sudo rm x",
      "sh -c 'rm x'",
      "$(echo rm) x",
      "r\\m x",
      "find . -exec rm {} +",
      "git ls-files | xargs rm",
    ]) {
      expect(await answerTo(careful, "bash", command), command).toBe("deny");
    }
    for (const command of ["git status", "git log --oneline | head", "ls -la"]) {
      expect(await answerTo(careful, "bash", command), command).toBe("allow");
    }
    expect((await decide(careful, "bash", "echo $x")).message).toContain(
      "`$x` is expanded by the shell: write it plainly",
    );
  });

  test("a scope that cannot be held removes the whole tool", async () => {
    const own = lists({ disallowedTools: ["Bash(rm*)", "Edit(~/x)"] });
    const careful = policy({ lists: [own] });
    expect(await answerTo(careful, "bash", "ls")).toBe("deny");
    expect(await answerTo(careful, "edit_file", "y")).toBe("deny");
    expect(careful.diagnostics).toHaveLength(2);
    expect(careful.diagnostics[0]).toMatchObject({
      code: "tools.scope-unenforceable",
      severity: "warning",
      path: "/skills/demo/SKILL.md",
      message:
        "`Bash(rm*)` in `disallowed-tools` cannot be enforced: `rm*` is a glob. It applies to every call of `bash`.",
    });
  });

  test("it removes inline too", async () => {
    const inline = policy({ lists: [lists({ isIsolated: false, disallowedTools: ["WebFetch"] })] });
    expect(await answerTo(inline, "web_fetch", { url: "https://example.com" })).toBe("deny");
  });
});

verifies(
  156,
  "before a skill is used, its policy says what it may use and which of its patterns do not hold",
  () => {
    const own = lists({
      allowedTools: ["Read", "Task", "Raed", "Bash(awk:*)", "WebSearch(x)"],
      disallowedTools: ["Write"],
    });
    const reviewed = policy({ lists: [own] });
    expect(visibleOf(reviewed, [...ALL, "web_search"])).toEqual(["read_file"]);
    expect(
      reviewed.diagnostics.map(({ code, severity, hint }) => [code, severity, hint?.split(".", 1)[0]]),
    ).toEqual([
      ["tools.unknown", "info", "It has no effect here; you can keep it for other clients"],
      ["tools.unknown", "warning", expect.stringMatching(/^Known tools: |^Did you mean/)],
      ["tools.scope-unenforceable", "warning", expect.any(String)],
      ["tools.scope-unenforceable", "warning", expect.any(String)],
    ]);
  },
);
