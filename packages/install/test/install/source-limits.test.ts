/** A folder that is to be installed: what may be in it, and how much. */
import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { skill } from "../../../../test/support/world.ts";
import {
  checkTree,
  type FetchedEntry,
  SOURCE_LIMITS,
  startEntryCheck,
} from "../../src/install/source-limits.ts";

function codes(folder: string, limits = SOURCE_LIMITS): readonly string[] {
  return checkTree(folder, limits).map(({ code, severity }) => `${severity} ${code}`);
}

test("a plain skill has nothing wrong with it", () => {
  const folder = temporaryFolder();
  writeTree(folder, {
    "SKILL.md": skill("a"),
    "scripts/run.sh": "echo\n",
    ".github/x.yml": "",
    "é/漢字 😀.md": "",
  });
  chmodSync(join(folder, "scripts/run.sh"), 0o755);
  symlinkSync("../SKILL.md", join(folder, "scripts/up"));
  symlinkSync("run.sh", join(folder, "scripts/beside"));
  symlinkSync("scripts", join(folder, "down"));
  linkSync(join(folder, "SKILL.md"), join(folder, "hard-link.md"));
  expect(checkTree(folder)).toEqual([]);
});

test("links are refused that lead out, also over others", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "deep"));
  for (const [path, target] of [
    ["absolute", "/etc/passwd"],
    ["up", "../x"],
    ["deep/up", "../../x"],
    ["chain", "deep/root/../../x"],
  ] as const) {
    symlinkSync(target, join(folder, path));
  }
  symlinkSync("..", join(folder, "deep/root"));
  expect(codes(folder)).toEqual(Array(4).fill("error tree.link"));
});

test("FIFOs, sockets and setuid files are refused", async () => {
  const folder = temporaryFolder();
  execFileSync("mkfifo", [join(folder, "fifo")]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(folder, "socket"), resolve));
  onTestFinished(() => void server.close());
  writeFileSync(join(folder, "setuid"), "");
  chmodSync(join(folder, "setuid"), 0o4755);
  expect(codes(folder)).toEqual(Array(3).fill("error tree.special-file"));
});

test("a name that is not UTF-8 is refused", () => {
  const folder = temporaryFolder();
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff])]), "");
  expect(codes(folder)).toEqual(["error tree.name"]);
});

test("a folder of git is refused wherever it is", () => {
  const folder = temporaryFolder();
  writeTree(folder, { "sub/.git/config": "", ".gitignore": "", ".github/x": "" });
  expect(codes(folder)).toEqual(["error tree.name"]);
});

test("every limit is kept, and named with its value", () => {
  const folder = temporaryFolder();
  writeTree(folder, { "a/b/c.txt": "12345", "d.txt": "12345" });
  for (const [limit, value] of [
    ["files", 1],
    ["bytes", 9],
    ["fileBytes", 4],
    ["depth", 2],
    ["pathBytes", 8],
  ] as const) {
    const [first] = checkTree(folder, { ...SOURCE_LIMITS, [limit]: value });
    expect(first, limit).toMatchObject({ code: "tree.limit", severity: "error" });
    expect(first?.message, limit).toContain(String(value));
  }
  expect(
    checkTree(folder, { ...SOURCE_LIMITS, files: 2, bytes: 10, fileBytes: 5, depth: 3, pathBytes: 9 }),
  ).toEqual([]);
});

test("a folder that is not there is a diagnostic", () => {
  expect(codes(join(temporaryFolder(), "nothing"))).toEqual(["error source.unreadable"]);
});

/** Entries of an archive, which can say what no file system does. */
function checkEntries(
  ...entries: readonly (Partial<FetchedEntry> & { readonly path: string })[]
): readonly string[] {
  const check = startEntryCheck("/source", SOURCE_LIMITS);
  return entries.flatMap((entry) => check({ kind: "file", bytes: 0, ...entry })).map(({ code }) => code);
}

test("what an archive holds twice, or below a file or a link, is refused", () => {
  expect(checkEntries({ path: "a" }, { path: "a" })).toEqual(["tree.name"]);
  expect(checkEntries({ path: "a" }, { path: "a/b" })).toEqual(["tree.name"]);
  expect(checkEntries({ path: "a/b" }, { path: "a" })).toEqual(["tree.name"]);
  expect(checkEntries({ path: "a", kind: "link", target: "b" }, { path: "a/c" })).toEqual(["tree.name"]);
  expect(checkEntries({ path: "a", kind: "folder" }, { path: "a", kind: "folder" }, { path: "a/b" })).toEqual(
    [],
  );
});

test("names that are one on some file system are twins", () => {
  expect(checkEntries({ path: "a.md" }, { path: "A.md" })).toEqual(["tree.twins"]);
  expect(checkEntries({ path: "caf\u00e9" }, { path: "cafe\u0301" })).toEqual(["tree.twins"]);
  expect(checkEntries({ path: "stra\u00dfe" }, { path: "STRASSE" })).toEqual(["tree.twins"]);
  expect(checkEntries({ path: "Dir/a" }, { path: "dir/b" })).toEqual(["tree.twins"]);
  expect(checkEntries({ path: "a.md" }, { path: "b.md" }, { path: "c/a.md" })).toEqual([]);
});

for (const path of [
  "",
  "/etc/passwd",
  "../x",
  "a/../../x",
  "a//b",
  "C:\\x",
  "a\\b",
  "a\0b",
  "a\u001bb",
  "a\u200bb",
  ".git/x",
]) {
  test(`${JSON.stringify(path)} names nothing in a source`, () => {
    expect(checkEntries({ path })).toEqual(["tree.name"]);
  });
}

for (const path of ["con", "NUL.txt", "com1.md", "a?.md", "ab:c", "end. ", "dot."]) {
  test(`${JSON.stringify(path)} is a warning: Windows cannot hold it`, () => {
    expect(checkEntries({ path })).toEqual(["tree.unportable-name"]);
  });
}
