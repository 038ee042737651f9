import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compilePathGlob } from "../../../src/tools/files/paths.ts";
import { smallWorld } from "./small-world.ts";

const FILES = {
  "readme.md": "",
  "src/b.ts": "",
  "src/a.ts": "",
  "src/deep/c.tsx": "",
  "node_modules/x/index.ts": "",
  ".git/config": "",
};

describe("list_files", () => {
  test("lists the working directory, sorted, with kinds", async () => {
    const { project, text } = smallWorld(FILES);
    symlinkSync("readme.md", join(project, "link"));
    expect(await text("list_files", {})).toBe(".git/\nlink (link)\nnode_modules/\nreadme.md\nsrc/");
  });

  test("lists deeper levels, and says what it did not enter", async () => {
    const { text } = smallWorld(FILES);
    expect(await text("list_files", { depth: 3 })).toBe(
      "[`.git` was not entered; `node_modules` was not entered]\n" +
        ".git/\nnode_modules/\nreadme.md\nsrc/\nsrc/a.ts\nsrc/b.ts\nsrc/deep/\nsrc/deep/c.tsx",
    );
  });

  test("gives paths that can be asked for again", async () => {
    const { project, text } = smallWorld(FILES);
    expect(await text("list_files", { path: "src" })).toBe("src/a.ts\nsrc/b.ts\nsrc/deep/");
    expect(await text("list_files", { path: "./src/deep/" })).toBe("src/deep/c.tsx");
    expect(await text("list_files", { path: join(project, "src/deep") })).toBe(
      join(project, "src/deep/c.tsx"),
    );
    expect(await text("list_files", { path: "node_modules/x" })).toBe("node_modules/x/index.ts");
  });

  test("finds by a pattern", async () => {
    const { text } = smallWorld({ "src/b.ts": "", "src/a.ts": "", "src/deep/c.tsx": "", "d.ts": "" });
    expect(await text("list_files", { pattern: "*.{ts,tsx}" })).toBe(
      "d.ts\nsrc/a.ts\nsrc/b.ts\nsrc/deep/c.tsx",
    );
    expect(await text("list_files", { pattern: "src/*.ts" })).toBe("src/a.ts\nsrc/b.ts");
    expect(await text("list_files", { path: "src", pattern: "deep/*" })).toBe("src/deep/c.tsx");
    expect(await text("list_files", { pattern: "*.ts", depth: 1 })).toBe("d.ts");
    expect(await text("list_files", { pattern: "*.py" })).toBe("[nothing matches]");
  });

  test("does not show what the run does not see", async () => {
    const { text } = smallWorld({
      ".env": "",
      ".env.local": "",
      "masked/a": "",
      "sub/.envrc": "",
      "sub/b": "",
    });
    expect(await text("list_files", { depth: 5 })).toBe("sub/\nsub/b");
  });

  test("does not follow links", async () => {
    const { project, text } = smallWorld({ "a/b.txt": "" });
    symlinkSync("..", join(project, "a/up"));
    expect(await text("list_files", { pattern: "*" })).toBe("a/\na/b.txt\na/up (link)");
  });

  test("says how many there are when it does not show all", async () => {
    const names = Array.from({ length: 1001 }, (_, index) => `f${String(index).padStart(4, "0")}`);
    const { text } = smallWorld(Object.fromEntries(names.map((name) => [name, ""])));
    const lines = (await text("list_files", {})).split("\n");
    expect(lines[0]).toBe("[the first 1000 of 1001: ask for less]");
    expect(lines).toHaveLength(1001);
  });

  test("gives every name a line of its own, whatever it is", async () => {
    const { text } = smallWorld({ "a\nb\u202e.txt": "" });
    expect(await text("list_files", {})).toBe("a\\u{a}b\\u{202e}.txt");
  });

  test("says that a folder is empty, missing or no folder", async () => {
    const { call, text } = smallWorld({ "a.txt": "" });
    expect(await text("list_files", { path: "../work" })).toBe("[the folder is empty]");
    expect((await call("list_files", { path: "nope" })).text).toContain("`nope` does not exist.");
    expect((await call("list_files", { path: "a.txt" })).text).toContain("`a.txt` is not a folder.");
    expect((await call("list_files", { path: "/" })).text).toContain(
      "`/` is outside the folders this run can see",
    );
  });
});

describe("a path glob", () => {
  test.each([
    ["*.ts", "a/b/c.ts", true],
    ["*.ts", "c.tsx", false],
    ["/a/*.ts", "a/c.ts", true],
    ["./a/*.ts", "a/c.ts", true],
    ["a/*.ts", "b/a/c.ts", false],
    ["a/**", "a/b/c", true],
    ["**/c", "c", true],
    ["**/c", "a/b/c", true],
    ["a/**/c", "a/c", true],
    ["a/**/b/**/c", "a/x/b/y/z/c", true],
    ["a/**/b/**/c", "a/x/y/z/c", false],
    ["{a,b}/{c,d}.md", "b/c.md", true],
    ["{a,{b,c}}.md", "c.md", true],
    ["{a}.md", "{a}.md", true],
    ["[ab].md", "b.md", true],
    ["a*", "a/b", false],
  ])("%s on %s is %s", (pattern, path, expected) => {
    expect(compilePathGlob(pattern)(path)).toBe(expected);
  });

  test("that is hostile does not take long", () => {
    const path = Array.from({ length: 400 }, () => "a".repeat(100)).join("/");
    expect(compilePathGlob(`${"**/a*a*a*/".repeat(50)}b`)(path)).toBe(false);
    expect(compilePathGlob("{a,b}".repeat(100))("ab")).toBe(false);
  });
});
