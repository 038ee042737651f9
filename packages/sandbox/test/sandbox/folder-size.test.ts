/** How much a folder holds: bounded, without following links, and never less than it is. */
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { folderSize, measureFolder, ownFolders, whyTooFull } from "../../src/sandbox/process/work-folders.ts";

const MEGABYTE = 1024 * 1024;

test("everything below a folder counts", async () => {
  const folder = temporaryFolder();
  writeTree(folder, { a: Buffer.alloc(MEGABYTE, 1), "b/c/d": Buffer.alloc(2 * MEGABYTE, 1) });
  const { bytes, unknown } = await measureFolder(folder);
  expect(unknown).toBeUndefined();
  expect(bytes).toBeGreaterThanOrEqual(3 * MEGABYTE);
  expect(bytes).toBeLessThan(4 * MEGABYTE);
});

test("a link is not followed, and a file with two names counts once", async () => {
  const folder = temporaryFolder();
  const other = temporaryFolder();
  writeTree(other, { large: Buffer.alloc(3 * MEGABYTE, 1) });
  writeTree(folder, { a: Buffer.alloc(MEGABYTE, 1) });
  linkSync(join(folder, "a"), join(folder, "b"));
  symlinkSync(other, join(folder, "folder"));
  symlinkSync(join(other, "large"), join(folder, "file"));
  expect((await measureFolder(folder)).bytes).toBeLessThan(2 * MEGABYTE);
});

test("what counts is the space on the disk, not the length of a file with holes", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "holes"), "");
  truncateSync(join(folder, "holes"), 1000 * MEGABYTE);
  expect((await measureFolder(folder)).bytes).toBeLessThan(MEGABYTE);
});

test("more entries than are looked at make the size unknown", async () => {
  const folder = temporaryFolder();
  writeTree(folder, { a: "", "b/c": "", "b/d": "" });
  expect(await measureFolder(folder, 3)).toMatchObject({ unknown: "has more than 3 entries" });
  expect((await measureFolder(folder, 4)).unknown).toBeUndefined();
});

test.skipIf(process.getuid?.() === 0)("a folder that cannot be read makes the size unknown", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "closed"));
  chmodSync(join(folder, "closed"), 0);
  onTestFinished(() => chmodSync(join(folder, "closed"), 0o700));
  expect((await measureFolder(folder)).unknown).toBe("has a folder that cannot be read (EACCES)");
  expect(await whyTooFull([folder], MEGABYTE)).toContain("its size limit cannot be enforced");
});

test("a folder that is not there holds nothing", async () => {
  const folder = temporaryFolder();
  rmSync(folder, { recursive: true });
  expect(await folderSize(folder)).toEqual({ bytes: 0 });
});

test("a folder that is too full is named, with what it holds and what is allowed", async () => {
  const folder = temporaryFolder();
  const full = temporaryFolder();
  writeTree(full, { a: Buffer.alloc(MEGABYTE, 1) });
  const { bytes } = await measureFolder(full);
  expect(await whyTooFull([folder, full], MEGABYTE / 2)).toBe(
    `\`${full}\` holds ${bytes} bytes; the limit is ${MEGABYTE / 2} bytes (\`sandbox.work-mb\`).`,
  );
  expect(await whyTooFull([folder, full], 2 * MEGABYTE)).toBeUndefined();
});

test("the folders of a run's own are its work folder and its skill's data", () => {
  const world = {
    cwd: "/p",
    workDir: "/w",
    readable: ["/p"],
    writable: ["/p"],
    masked: [],
    protectedPaths: [],
  };
  expect(ownFolders(world)).toEqual(["/w"]);
  expect(ownFolders({ ...world, dataDir: "/d" })).toEqual(["/w", "/d"]);
});
