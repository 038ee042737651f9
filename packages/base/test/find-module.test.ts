import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { findModule } from "../src/programs.ts";

function createFolder(files: readonly string[]): string {
  const folder = temporaryFolder();
  writeTree(folder, Object.fromEntries(files.map((file) => [`skill/${file}`, ""])));
  return join(folder, "skill");
}

const FOUND: readonly (readonly [files: readonly string[], path: string, found: string])[] = [
  [["a.ts", "a.js"], "a", "a.ts"],
  [["a.js", "a.ts"], "a.js", "a.js"],
  [["a.mjs"], "./a", "a.mjs"],
  [["lib/a.mts"], "lib/a", "lib/a.mts"],
  [["lib/index.js"], "lib", "lib/index.js"],
  [["lib/index.ts"], "lib/", "lib/index.ts"],
  [["lib.ts", "lib/index.ts"], "lib", "lib.ts"],
  [["a.test.ts"], "a.test", "a.test.ts"],
];
for (const [files, path, found] of FOUND) {
  test(`\`${path}\` among ${files.join(", ")} is ${found}`, () => {
    const folder = createFolder(files);
    expect(findModule(folder, path)).toEqual({ ok: true, file: join(folder, found) });
  });
}

test("what is no file of the skill is not found, with the reason", () => {
  const folder = createFolder(["a.txt", "b.ts/file", "c.ts"]);
  writeTree(folder, { "../outside.ts": "" });
  symlinkSync(join(folder, "../outside.ts"), join(folder, "link.ts"));
  symlinkSync(join(folder, "c.ts"), join(folder, "inside.ts"));
  const messageFor = (path: string): string => {
    const found = findModule(folder, path);
    return found.ok ? found.file : found.message;
  };
  expect(messageFor("a")).toContain("`.ts`, `.mts`");
  expect(messageFor("a.txt")).toContain("is not a module of the skill");
  expect(messageFor("b.ts")).toContain("is not a regular file");
  expect(messageFor("../outside")).toContain("goes up");
  expect(messageFor("/etc/passwd")).toContain("is absolute");
  expect(messageFor("link")).toContain("leads out of the skill's folder");
  expect(messageFor("inside")).toBe(join(folder, "c.ts"));
});
