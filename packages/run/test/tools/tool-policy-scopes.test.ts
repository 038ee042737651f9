import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { answerTo, decide, lists, policy } from "./tool-policy-world.ts";

const config = (written: string, answer: "allow" | "ask" | "deny"): Record<string, typeof answer> => ({
  [written]: answer,
});

describe("redirections of a scoped command", () => {
  const own = lists({ isIsolated: false, allowedTools: ["Bash(git:*)"] });

  test("an output redirection needs `write_file` besides", async () => {
    const asking = policy({ lists: [own] });
    expect(await answerTo(asking, "bash", "git diff")).toBe("allow");
    expect(await decide(asking, "bash", "git diff > a.patch")).toEqual({
      answer: "ask",
      rule: "redirecting to or from `a.patch` needs `write_file`: `write_file` asks by default",
    });
    expect(
      await answerTo(policy({ lists: [own], config: { write_file: "allow" } }), "bash", "git diff > a"),
    ).toBe("allow");
    expect(
      await answerTo(policy({ lists: [own], config: { write_file: "deny" } }), "bash", "git diff >> a"),
    ).toBe("deny");
    const some = policy({ lists: [own], config: config("write_file(./out/**)", "allow") });
    expect(await answerTo(some, "bash", "git diff > out/a")).toBe("allow");
    expect(await answerTo(some, "bash", "git diff > out/../a")).toBe("ask");
  });

  test("an input redirection counts as reading", async () => {
    expect(await answerTo(policy({ lists: [own] }), "bash", "git apply < a.patch")).toBe("allow");
    const careful = policy({ lists: [own], config: config("Read(.env)", "deny") });
    expect(await answerTo(careful, "bash", "git apply < sub/.env")).toBe("deny");
    const isolated = policy({ lists: [lists({ allowedTools: ["Bash(git:*)"] })] });
    expect(await answerTo(isolated, "bash", "git apply < a.patch")).toBe("deny");
    expect(await answerTo(isolated, "bash", "git diff > a.patch")).toBe("deny");
    expect(await answerTo(isolated, "bash", "git diff 2>/dev/null")).toBe("allow");
  });

  test("a command that is allowed as a whole may redirect", async () => {
    expect(await decide(policy({ config: { bash: "allow", write_file: "deny" } }), "bash", "a > b")).toEqual({
      answer: "allow",
      rule: "`bash` is `allow` in the configuration",
    });
  });
});

describe("commands decided by several rules", () => {
  test("each part is decided by itself, and the strictest answer holds", async () => {
    const own = lists({ isIsolated: false, allowedTools: ["Bash(head:*)"] });
    const mixed = policy({ lists: [own], config: config("bash(git:*)", "allow") });
    expect(await answerTo(mixed, "bash", "git log | head -3")).toBe("allow");
    expect(await answerTo(mixed, "bash", "git log | tail")).toBe("ask");
  });

  test("`Bash(*)` is every command, as the shell has it", async () => {
    const any = policy({ lists: [lists({ allowedTools: ["Bash(*)"] })] });
    expect(await decide(any, "bash", "a | $b")).toMatchObject({ answer: "allow" });
    expect(any.diagnostics).toEqual([]);
  });

  test("an input that is no command matches no scope", async () => {
    const scoped = policy({ config: config("bash(git:*)", "allow") });
    expect(await answerTo(scoped, "bash", { command: 7 })).toBe("ask");
    expect(await answerTo(scoped, "bash", {})).toBe("ask");
  });
});

describe("paths", () => {
  test("a relative pattern starts at the working directory; `..` does not lead out of it", async () => {
    const scoped = policy({ config: config("Write(./src/**)", "allow") });
    for (const path of ["src/a.ts", "./src/b/c.ts", "/project/src/a.ts", "src/x/../a.ts"]) {
      expect(await answerTo(scoped, "write_file", path), path).toBe("allow");
    }
    for (const path of ["a.ts", "src/../a.ts", "/src/a.ts", "../project2/src/a.ts", "srcx/a.ts", ""]) {
      expect(await answerTo(scoped, "write_file", path), path).toBe("ask");
    }
    expect(await answerTo(scoped, "edit_file", "src/a.ts")).toBe("ask");
  });

  test("a pattern without `/` is about the name, one with `./` about that file", async () => {
    const named = policy({ config: config("Edit(*.md)", "allow") });
    expect(await answerTo(named, "edit_file", "docs/a.md")).toBe("allow");
    expect(await answerTo(named, "edit_file", "/elsewhere/a.md")).toBe("ask");
    const one = policy({ config: config("Edit(./a.md)", "allow") });
    expect(await answerTo(one, "edit_file", "a.md")).toBe("allow");
    expect(await answerTo(one, "edit_file", "docs/a.md")).toBe("ask");
  });

  test("a denied path is denied in every spelling, with all below it", async () => {
    const careful = policy({ config: config("Read(./secrets)", "deny") });
    for (const path of ["secrets", "secrets/a", "./x/../secrets/a", "/project/secrets/a/b", "SECRETS/a"]) {
      expect(await answerTo(careful, "read_file", path), path).toBe("deny");
    }
    expect(await answerTo(careful, "read_file", "public/a")).toBe("allow");
    const names = policy({ config: config("Read(.env*)", "deny") });
    expect(await answerTo(names, "read_file", "a/b/.env.local")).toBe("deny");
    expect(await answerTo(names, "read_file", "/other/.env")).toBe("deny");
    expect(await answerTo(names, "read_file", { path: 1 })).toBe("deny");
  });

  test("links are followed: they widen no allowed path and hide no denied one", async () => {
    const cwd = temporaryFolder();
    writeTree(cwd, { "src/a.ts": "", "secrets/key": "" });
    symlinkSync(join(cwd, "secrets"), join(cwd, "src", "link"));
    const allowing = policy({ cwd, config: config("Write(./src/**)", "allow") });
    expect(await answerTo(allowing, "write_file", "src/new.ts")).toBe("allow");
    expect(await answerTo(allowing, "write_file", "src/link/key")).toBe("ask");
    expect(await answerTo(allowing, "write_file", "src/link/new")).toBe("ask");
    const denying = policy({ cwd, config: config("Read(./secrets/**)", "deny") });
    expect(await answerTo(denying, "read_file", "src/link/key")).toBe("deny");
    const throughLink = policy({ cwd, config: config("Read(./src/link/**)", "deny") });
    expect(await answerTo(throughLink, "read_file", "secrets/key")).toBe("deny");
  });

  test("a search is about its folder, and about all below it where that is denied", async () => {
    const allowing = policy({ config: { ...config("Grep(./src/**)", "allow"), grep_search: "ask" } });
    expect(await answerTo(allowing, "grep_search", { pattern: "x", path: "src" })).toBe("allow");
    expect(await answerTo(allowing, "grep_search", { pattern: "x" })).toBe("ask");
    expect(await answerTo(allowing, "grep_search", { pattern: "x", path: "src", glob: "../**" })).toBe("ask");
    const denying = policy({ config: config("Grep(./a/secrets/**)", "deny") });
    expect(await answerTo(denying, "grep_search", { pattern: "x" })).toBe("deny");
    expect(await answerTo(denying, "grep_search", { pattern: "x", path: "a" })).toBe("deny");
    expect(await answerTo(denying, "grep_search", { pattern: "x", path: "b" })).toBe("allow");
  });
});

describe("domains", () => {
  const fetchOf = (url: string): { readonly url: string } => ({ url });

  test("a domain is that host alone, with `*.` those below it", async () => {
    const one = policy({ config: config("WebFetch(domain:example.com)", "allow") });
    for (const url of ["https://example.com/a", "http://EXAMPLE.com:8080", "https://example.com./"]) {
      expect(await answerTo(one, "web_fetch", fetchOf(url)), url).toBe("allow");
    }
    for (const url of [
      "https://a.example.com",
      "https://example.com.evil.org",
      "https://example.com@evil.org",
      "x",
      "file://example.com/x",
    ]) {
      expect(await answerTo(one, "web_fetch", fetchOf(url)), url).toBe("ask");
    }
    const below = policy({ config: config("WebFetch(domain:*.example.com)", "allow") });
    expect(await answerTo(below, "web_fetch", fetchOf("https://a.b.example.com"))).toBe("allow");
    expect(await answerTo(below, "web_fetch", fetchOf("https://example.com"))).toBe("ask");
    expect(await answerTo(below, "web_fetch", fetchOf("https://badexample.com"))).toBe("ask");
  });

  test("a denied domain is denied with those below it, and so is what is no address", async () => {
    const denying = policy({
      config: { web_fetch: "allow", ...config("WebFetch(domain:evil.org)", "deny") },
    });
    expect(await answerTo(denying, "web_fetch", fetchOf("https://a.evil.org"))).toBe("deny");
    expect(await answerTo(denying, "web_fetch", fetchOf("nonsense"))).toBe("deny");
    expect(await answerTo(denying, "web_fetch", fetchOf("https://example.com"))).toBe("allow");
  });
});

test("a skill can be named in a scope, and is denied under its full address too", async () => {
  const own = lists({
    allowedTools: ["Skill(deploy-*)", "Skill(notes:*)"],
    disallowedTools: ["Skill(deploy-live)"],
  });
  const scoped = policy({ lists: [own] });
  expect(await answerTo(scoped, "use_skill", { skill: "deploy-test" })).toBe("allow");
  expect(await answerTo(scoped, "use_skill", { skill: "notes", arguments: "x" })).toBe("allow");
  expect(await answerTo(scoped, "use_skill", { skill: "other" })).toBe("deny");
  expect(await answerTo(scoped, "use_skill", { skill: "project:deploy-live" })).toBe("deny");
});
