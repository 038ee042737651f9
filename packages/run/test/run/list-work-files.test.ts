import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { listWorkFiles } from "../../src/run/kept-files.ts";

function filesCalled(prefix: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, "x"]));
}

test("lists what a run left, with sizes", () => {
  const folder = temporaryFolder();
  writeTree(folder, { "a.txt": "abc", "b/c.txt": "" });
  expect(listWorkFiles(folder)).toEqual({
    files: [
      { path: "a.txt", size: 3 },
      { path: "b/c.txt", size: 0 },
    ],
    diagnostics: [],
  });
});

test("says how many files are not listed", () => {
  const folder = temporaryFolder();
  writeTree(folder, filesCalled("f", 502));
  const { files, diagnostics } = listWorkFiles(folder);
  expect(files).toHaveLength(500);
  expect(diagnostics).toMatchObject([{ code: "run.files-unlisted", severity: "warning", path: folder }]);
  expect(diagnostics[0]?.message).toContain("left 502 files; the last 2 are not listed");
});
