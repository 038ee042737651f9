import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { smallWorld } from "./small-world.ts";

describe("grep_search", () => {
  test("finds lines, sorted by path, in a form that can be read on", async () => {
    const { text } = smallWorld({ "b.ts": "x\nfoo(1)\n", "a/c.ts": "foo(22)\r\n", "d.md": "nothing" });
    expect(await text("grep_search", { pattern: "foo\\(\\d+\\)" })).toBe("a/c.ts:1: foo(22)\nb.ts:2: foo(1)");
  });

  test("searches one file, one folder or files that match a glob", async () => {
    const { text } = smallWorld({ "b.ts": "foo", "a/c.ts": "foo", "a/d.md": "foo" });
    expect(await text("grep_search", { pattern: "foo", path: "b.ts" })).toBe("b.ts:1: foo");
    expect(await text("grep_search", { pattern: "foo", path: "a" })).toBe("a/c.ts:1: foo\na/d.md:1: foo");
    expect(await text("grep_search", { pattern: "foo", glob: "*.md" })).toBe("a/d.md:1: foo");
    expect(await text("grep_search", { pattern: "foo", path: "b.ts", glob: "*.ts" })).toBe("b.ts:1: foo");
    expect(await text("grep_search", { pattern: "foo", glob: "*.py" })).toBe("[there is no file to search]");
  });

  test("minds letter case unless told not to", async () => {
    const { text } = smallWorld({ "a.txt": "Foo(\n" });
    expect(await text("grep_search", { pattern: "foo" })).toBe("[nothing matches]");
    expect(await text("grep_search", { pattern: "foo", ignore_case: true })).toBe("a.txt:1: Foo(");
    expect(await text("grep_search", { pattern: "foo(", ignore_case: true })).toMatch(
      /plain text\]\na\.txt:1: Foo\($/,
    );
  });

  test("takes what is no regular expression as it is written, and says so", async () => {
    const { text } = smallWorld({ "a.txt": "call foo(bar\n(?<=x)y\n" });
    expect(await text("grep_search", { pattern: "foo(bar" })).toMatch(
      /^\[the pattern is no regular expression here \(.*\), so it was searched for as plain text\]\na\.txt:1: call foo\(bar$/,
    );
    expect(await text("grep_search", { pattern: "(?<=x)y" })).toMatch(/plain text\]\na\.txt:2: /);
  });

  test("has no line behind the last line end, and none in an empty file", async () => {
    const { text } = smallWorld({ "a.txt": "a\n\nb\n", "empty.txt": "" });
    expect(await text("grep_search", { pattern: "^$" })).toBe("a.txt:2: ");
  });

  test("leaves out binary files, links, and what the run does not see", async () => {
    const { root, project, text } = smallWorld({
      "a.bin": Buffer.from("foo\0"),
      ".env": "foo",
      "masked/a.txt": "foo",
      "../outside/a.txt": "foo",
      "node_modules/a.js": "foo",
      "seen.txt": "foo",
    });
    symlinkSync(join(root, "outside"), join(project, "link"));
    symlinkSync(join(root, "outside/a.txt"), join(project, "link.txt"));
    expect(await text("grep_search", { pattern: "foo" })).toBe(
      "[`node_modules` was not entered]\nseen.txt:1: foo",
    );
  });

  test("stops at as many results as are wanted", async () => {
    const { text } = smallWorld({ "a.txt": "foo\n".repeat(3) });
    expect(await text("grep_search", { pattern: "foo", max_results: 2 })).toBe(
      "[only the first 2 results are shown]\na.txt:1: foo\na.txt:2: foo",
    );
    expect(await text("grep_search", { pattern: "foo", max_results: 3 })).not.toContain("[");
  });

  test("shows of a long line what is around the match", async () => {
    const { text } = smallWorld({ "a.txt": `${"x".repeat(1000)}foo${"y".repeat(1000)}` });
    expect(await text("grep_search", { pattern: "fo+" })).toBe(
      `a.txt:1: …${"x".repeat(100)}foo${"y".repeat(197)}…`,
    );
  });

  test("says what it did not search", async () => {
    const { text } = smallWorld({
      "large.txt": "x".repeat(5_300_000),
      "long.txt": `${"x".repeat(60_000)}foo`,
    });
    expect(await text("grep_search", { pattern: "foo" })).toBe(
      "[nothing matches; files of more than 5242880 bytes were left out; lines were searched up to character 50000]",
    );
  });

  test("ends for a pattern that would keep another engine busy for ever", async () => {
    const { text } = smallWorld({ "a.txt": `${"a".repeat(40_000)}!` });
    expect(await text("grep_search", { pattern: "^(a+)+$" })).toBe("[nothing matches]");
    expect(await text("grep_search", { pattern: "(a|aa|a*)*b" })).toBe("[nothing matches]");
  });

  test("ends a search whose pattern is too dear for the files, and says where", async () => {
    const { text } = smallWorld({ "a.txt": `${"x".repeat(9)}\n`.repeat(120_000) });
    expect(await text("grep_search", { pattern: "[ab]{900}z" })).toMatch(
      /^\[nothing matches; the search ended in `a.txt`: this pattern takes too long for all of it\]$/,
    );
  });

  test("ends when it is cancelled", async () => {
    const { call } = smallWorld({ "a.txt": "x\n".repeat(2_000_000) });
    const { text } = await call("grep_search", { pattern: "x{40}y" }, AbortSignal.abort());
    expect(text).toContain("the search was cancelled");
  });

  test("names a path that is not there", async () => {
    const { project, call } = smallWorld();
    mkdirSync(join(project, "src"));
    const { text, isError } = await call("grep_search", { pattern: "x", path: "sr" });
    expect(isError).toBe(true);
    expect(text).toBe("`sr` does not exist. Did you mean `src`?");
  });
});
