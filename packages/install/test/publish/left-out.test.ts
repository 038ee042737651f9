import { expect, test } from "vitest";
import { reasonToLeaveOut } from "../../src/publish/stage-skill.ts";

test.each([
  [".git", true],
  ["scripts/.git", true],
  [".git", false],
  [".svn", true],
  ["SKILL.md~", false],
  [".SKILL.md.swp", false],
  ["references/#notes.md#", false],
  [".DS_Store", false],
  [".vscode", true],
  ["a.orig", false],
  ["node_modules", true],
  ["scripts/__pycache__", true],
  ["scripts/tool.pyc", false],
  ["evals", true],
  ["pdf-workspace", true],
  [".env", false],
  ["config/.env.production", false],
  ["id_ed25519", false],
  [".ssh", true],
  ["store.p12", false],
])("leaves out %s", (path, isFolder) => {
  expect(reasonToLeaveOut(path, isFolder)).toMatch(/\w/);
});

test.each([
  ["SKILL.md", false],
  ["scripts", true],
  ["references/evals", true],
  ["evals.md", false],
  [".env.example", false],
  [".gitignore", false],
  ["id_ed25519.pub", false],
  ["references/git", true],
  ["workspace.md", false],
  ["tests/basic.test.yaml", false],
])("keeps %s", (path, isFolder) => {
  expect(reasonToLeaveOut(path, isFolder)).toBeUndefined();
});
