import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { answerTo, decide, lists, policy, visibleOf } from "./tool-policy-world.ts";

describe("the built-in default", () => {
  test("reading, skills and talking are allowed; executing, writing and the network ask", async () => {
    const plain = policy();
    for (const tool of [
      "read_file",
      "list_files",
      "grep_search",
      "use_skill",
      "read_skill_file",
      "ask_user",
    ]) {
      expect(await answerTo(plain, tool), tool).toBe("allow");
    }
    for (const tool of ["bash", "write_file", "edit_file", "web_fetch", "web_search", "run_script"]) {
      expect(await answerTo(plain, tool), tool).toBe("ask");
    }
    expect(await plain.decide("run_script", "skill", {})).toMatchObject({ answer: "ask" });
  });

  test("the rule that decided is named", async () => {
    expect(await decide(policy(), "bash", "ls")).toEqual({ answer: "ask", rule: "`bash` asks by default" });
  });
});

describe("the order of rules", () => {
  test("a configured deny beats every allow, however specific", async () => {
    const config = { bash: "deny", "bash(git:*)": "allow" } as const;
    const denying = policy({ config, lists: [lists({ allowedTools: ["Bash"] })] });
    expect(await decide(denying, "bash", "git status")).toMatchObject({
      answer: "deny",
      rule: "`bash` is `deny` in the configuration",
      message: expect.stringContaining("`bash` was not allowed"),
    });
  });

  test("`disallowed-tools` beats a configured allow and the skill's own `allowed-tools`", async () => {
    const own = lists({ allowedTools: ["Bash", "Read"], disallowedTools: ["Bash"] });
    const denying = policy({ config: { bash: "allow" }, lists: [own] });
    expect(await decide(denying, "bash", "ls")).toMatchObject({
      answer: "deny",
      rule: "`disallowed-tools` of skill `demo` has `Bash`",
    });
    expect(await answerTo(denying, "read_file", "x")).toBe("allow");
  });

  test("the most specific configured entry decides", async () => {
    const config = { bash: "ask", "bash(git:*)": "allow", "Bash(git push:*)": "ask", "*": "ask" } as const;
    const scoped = policy({ config });
    expect(await decide(scoped, "bash", "git log")).toEqual({
      answer: "allow",
      rule: "`bash(git:*)` is `allow` in the configuration",
      argv: ["git", "log"],
    });
    expect(await answerTo(scoped, "bash", "git push")).toBe("ask");
    expect(await answerTo(scoped, "bash", "git log && git push")).toBe("ask");
    expect(await answerTo(scoped, "bash", "ls")).toBe("ask");
    expect(await answerTo(scoped, "read_file", "x")).toBe("ask");
  });

  test("a stricter entry for some calls holds unless a command is certain to be another one", async () => {
    const config = { bash: "allow", "bash(git push:*)": "ask" } as const;
    const careful = policy({ config });
    expect(await answerTo(careful, "bash", "ls *.ts")).toBe("ask");
    expect(await answerTo(careful, "bash", "ls src")).toBe("allow");
    expect(await answerTo(careful, "bash", "p=push; git $p")).toBe("ask");
  });

  test("a configured entry beats a pre-approval, and a pre-approval the default", async () => {
    const own = lists({ allowedTools: ["Bash(git:*)", "Write"] });
    expect(await decide(policy({ lists: [own] }), "bash", "git status")).toEqual({
      answer: "allow",
      rule: "`allowed-tools` of the trusted skill `demo` has `Bash(git:*)`",
      argv: ["git", "status"],
    });
    expect(await answerTo(policy({ lists: [own], config: { bash: "ask" } }), "bash", "git status")).toBe(
      "ask",
    );
    expect(await answerTo(policy({ lists: [own] }), "write_file", "x")).toBe("allow");
  });

  test("the machine's policy only makes answers stricter, however specific the others are", async () => {
    const config = { "bash(git:*)": "allow", write_file: "deny" } as const;
    const own = lists({ allowedTools: ["Bash(ls:*)", "Bash(git:*)", "Write", "Read"] });
    const limited = policy({ config, policy: { bash: "ask", read_file: "deny" }, lists: [own] });
    expect(await decide(limited, "bash", "git log")).toMatchObject({
      answer: "ask",
      rule: "`bash` is `ask` in the policy of this machine",
    });
    expect(await answerTo(limited, "bash", "ls")).toBe("ask");
    expect(await answerTo(limited, "write_file", "x")).toBe("deny");
    expect(await answerTo(limited, "read_file", "x")).toBe("deny");
    const pattern = policy({ config: { bash: "allow" }, policy: { "bash(rm:*)": "deny" } });
    expect(await answerTo(pattern, "bash", "ls")).toBe("allow");
    expect(await answerTo(pattern, "bash", "/bin/rm x")).toBe("deny");
    expect(await answerTo(pattern, "bash", "$x")).toBe("deny");
  });
});

describe("pre-approval", () => {
  const own = lists({ allowedTools: ["Bash", "Read"] });

  verifies(157, "an untrusted skill pre-approves nothing", async () => {
    const untrusted = policy({ lists: [{ ...own, trust: "untrusted" }] });
    expect(await answerTo(untrusted, "bash", "ls")).toBe("ask");
    expect(await answerTo(policy({ lists: [own] }), "bash", "ls")).toBe("allow");
  });

  test("it stops in the middle of a conversation once an untrusted body is in it", async () => {
    let isTainted = false;
    const stopping = policy({ lists: [own], isPreApprovalStopped: () => isTainted });
    expect(await answerTo(stopping, "bash", "ls")).toBe("allow");
    isTainted = true;
    expect(await answerTo(stopping, "bash", "ls")).toBe("ask");
    expect(await answerTo(stopping, "write_file", "x")).toBe("deny");
  });

  test("inline it pre-approves and restricts nothing", async () => {
    const inline = policy({ lists: [{ ...own, isIsolated: false }] });
    expect(await answerTo(inline, "bash", "ls")).toBe("allow");
    expect(await answerTo(inline, "write_file", "x")).toBe("ask");
    expect(visibleOf(inline, ["bash", "write_file"])).toEqual(["bash", "write_file"]);
  });

  test("`required-tools` restricts but pre-approves nothing", async () => {
    const required = policy({ lists: [lists({ requiredTools: ["bash"] })] });
    expect(await answerTo(required, "bash", "ls")).toBe("ask");
  });
});

describe("a policy inside another", () => {
  test("the stricter answer holds, both ways", async () => {
    const open = policy({ config: { bash: "allow", write_file: "allow" } });
    const closed = policy({ config: { bash: "deny" } });
    const inner = { lists: [lists({ allowedTools: ["Bash", "Write"] })] };
    expect(await answerTo(policy({ ...inner, outer: closed }), "bash", "ls")).toBe("deny");
    expect(await answerTo(policy({ ...inner, outer: policy() }), "bash", "ls")).toBe("ask");
    expect(await answerTo(policy({ ...inner, outer: open }), "bash", "ls")).toBe("allow");
    expect(await answerTo(policy({ config: { bash: "deny" }, outer: open }), "bash", "ls")).toBe("deny");
  });

  test("what the caller may not use is not visible, and its restriction holds for calls", async () => {
    const outer = policy({
      lists: [lists({ owner: "skill `caller`", allowedTools: ["Bash(git:*)", "Read"] })],
    });
    const inner = policy({ lists: [lists({ allowedTools: ["Bash", "Write"] })], outer });
    expect(visibleOf(inner, ["bash", "read_file", "write_file"])).toEqual(["bash"]);
    expect(await answerTo(inner, "bash", "ls")).toBe("deny");
    expect(await decide(inner, "bash", "git log")).toMatchObject({ answer: "allow", argv: ["git", "log"] });
  });
});
