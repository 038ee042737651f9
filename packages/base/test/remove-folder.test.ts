/** What a run leaves behind can be removed, whatever it did to it. */
import { chmodSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { removeFolder } from "../src/files/write-atomic.ts";

test("removes folders that were closed to everyone, and nothing that a link leads to", () => {
  const root = temporaryFolder();
  writeTree(root, { "work/closed/inner/file": "x", "outside/file": "x" });
  symlinkSync(join(root, "outside"), join(root, "work", "closed", "link"));
  for (const folder of ["work/closed/inner", "work/closed"]) chmodSync(join(root, folder), 0);
  removeFolder(join(root, "work"));
  expect(existsSync(join(root, "work"))).toBe(false);
  expect(readdirSync(join(root, "outside"))).toEqual(["file"]);
});

test("is content when there is nothing to remove", () => {
  expect(() => removeFolder(join(temporaryFolder(), "none"))).not.toThrow();
});
