import { expect, test } from "vitest";
import { buildFileTree, type FileFolder } from "../../src/page/skill/file-tree.ts";

function draw({ folders, files }: FileFolder): readonly unknown[] {
  return [...files.map(({ name }) => name), ...folders.map((folder) => [folder.name, draw(folder)])];
}

function treeOf(...paths: readonly string[]): readonly unknown[] {
  const files = paths.map((path) => ({
    path,
    size: 1,
    kind: path === "SKILL.md" ? "instructions" : "other",
  }));
  return draw(buildFileTree(files));
}

test("instructions come first, then files and folders by name", () => {
  expect(treeOf("b.txt", "z/b.md", "SKILL.md", "A.txt", "a/x/deep.md", "a/one.md")).toEqual([
    "SKILL.md",
    "A.txt",
    "b.txt",
    ["a", ["one.md", ["x", ["deep.md"]]]],
    ["z", ["b.md"]],
  ]);
});

test("folders that are called like parts of every object are folders like any other", () => {
  expect(treeOf("__proto__/a", "constructor/b")).toEqual([
    ["__proto__", ["a"]],
    ["constructor", ["b"]],
  ]);
});

test("a skill without files has an empty tree", () => {
  expect(treeOf()).toEqual([]);
});
