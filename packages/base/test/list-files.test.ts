import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { listFiles } from "../src/files/read-bounded.ts";

test("every file, link and folder is listed by its path, links without being followed", () => {
  const root = temporaryFolder();
  writeTree(root, { "b/c.md": "", "b.md": "", "a/.hidden": "" });
  mkdirSync(join(root, "empty"));
  symlinkSync("b", join(root, "link"));
  expect(listFiles(root, 100)).toEqual({
    ok: true,
    files: [
      { path: "a/.hidden", kind: "file" },
      { path: "b.md", kind: "file" },
      { path: "b/c.md", kind: "file" },
      { path: "link", kind: "link" },
    ],
    folders: expect.toSatisfy((folders: string[]) => folders.toSorted().join() === ",a,b,empty"),
  });
});

test("a very deep tree is walked without recursion", () => {
  const root = temporaryFolder();
  mkdirSync(join(root, ...Array.from({ length: 300 }, () => "d")), { recursive: true });
  expect(listFiles(root, 300)).toMatchObject({ ok: true, files: [], folders: { length: 301 } });
});

test("a list that would be longer than allowed is not given in part", () => {
  const root = temporaryFolder();
  writeTree(root, { a: "", b: "", "c/d": "" });
  expect(listFiles(root, 3)).toMatchObject({ ok: false, fault: "too-many", path: root });
});

test("a folder that cannot be listed is named", () => {
  const missing = join(temporaryFolder(), "missing");
  expect(listFiles(missing, 10)).toMatchObject({ ok: false, fault: "unreadable", path: missing });
});
