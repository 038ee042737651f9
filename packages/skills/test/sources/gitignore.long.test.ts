import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { compileGitignore } from "../../src/sources/skill-files.ts";

describe("a `.gitignore` rule", () => {
  test.each([
    ["drafts/", ["drafts"], true, true],
    ["drafts/", ["drafts"], false, undefined],
    ["*.tmp", ["a", "b.tmp"], false, true],
    ["/a", ["a"], false, true],
    ["/a", ["x", "a"], false, undefined],
    ["a/b", ["a", "b"], false, true],
    ["a/b", ["x", "a", "b"], false, undefined],
    ["**/b", ["x", "y", "b"], false, true],
    ["a/**", ["a"], true, undefined],
    ["a/**", ["a", "x"], false, true],
    ["a/**/b", ["a", "b"], false, true],
    ["a/**/b", ["a", "x", "y", "b"], false, true],
    ["*\n!keep", ["keep"], false, false],
    ["# comment", ["# comment"], false, undefined],
    ["\\#file", ["#file"], false, true],
    ["trailing  ", ["trailing"], false, true],
    ["[ab].md", ["a.md"], false, true],
  ])("%j says of %j (folder: %j): %j", (text, path, isFolder, expected) => {
    expect(compileGitignore(text)(path, isFolder)).toBe(expected);
  });

  test("hostile rules and names end", () => {
    const decide = compileGitignore(
      Array(500)
        .fill(`${"*a".repeat(40)}*b`)
        .join("\n"),
    );
    expect(decide(Array(5).fill("a".repeat(255)), false)).toBeUndefined();
  });
});

test("git itself gives the same answers", () => {
  const segment = fc.constantFrom("a", "b", "ab", "a.md", "x", "skills");
  const piece = fc.constantFrom("a", "b", "*", "a*", "*.md", "?", "[ab]", "**", "x", "*b*");
  const line = fc
    .record({
      not: fc.boolean(),
      root: fc.boolean(),
      parts: fc.array(piece, { minLength: 1, maxLength: 3 }),
      folder: fc.boolean(),
    })
    .map(
      ({ not, root, parts, folder }) =>
        `${not ? "!" : ""}${root ? "/" : ""}${parts.join("/")}${folder ? "/" : ""}`,
    );
  const samples = fc.sample(
    fc.tuple(
      fc.array(line, { minLength: 1, maxLength: 4 }),
      fc.array(segment, { minLength: 1, maxLength: 3 }),
    ),
    { numRuns: 60, seed: 7 },
  );
  for (const [lines, path] of samples) {
    const folder = temporaryFolder();
    spawnSync("git", ["init", "-q", folder]);
    writeFileSync(join(folder, ".gitignore"), lines.join("\n"));
    const file = join(folder, ...path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    const answer = spawnSync("git", ["check-ignore", "-q", "--no-index", path.join("/")], { cwd: folder });
    const decide = compileGitignore(lines.join("\n"));
    // As in the search: a hidden folder hides everything in it, whatever is said of that.
    const ours = path.some((_, index) => decide(path.slice(0, index + 1), index < path.length - 1) === true);
    expect({ lines, path, ignored: ours }).toEqual({ lines, path, ignored: answer.status === 0 });
  }
});
