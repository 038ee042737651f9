import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identifyFolder } from "@metier/skills/trust";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { openTreeMaker, type TreeMaker } from "../../src/install/tree-maker.ts";

/** Few entries are made by this thread, many by another. */
const KINDS = [
  { kind: "here", entries: 1 },
  { kind: "on a thread", entries: 1000 },
];

function open(entries: number): TreeMaker {
  const maker = openTreeMaker(entries);
  onTestFinished(() => maker.close());
  return maker;
}

describe.each(KINDS)("a tree made $kind", ({ entries }) => {
  test("has its folders and files, with bytes and modes, and says when they are there", async () => {
    const root = temporaryFolder();
    const maker = open(entries);
    const seen: string[][] = [];
    const bytes = Buffer.from("text 0");
    for (let number = 0; number < 40; number++) {
      const folder = join(root, `folder-${number}`);
      maker.makeFolder(folder);
      bytes.write(String(number % 10), 5); // One buffer for all: it is copied.
      maker.writeFile(join(folder, "file"), bytes, number % 2 ? 0o755 : 0o644);
      maker.writeFile(join(folder, "empty"), new Uint8Array(), 0o644);
      maker.makeLink(join(folder, "link"), `../folder-${number}`);
      maker.whenMade(() => seen.push(readdirSync(folder)));
    }
    await maker.finish();
    expect(seen).toEqual(Array.from({ length: 40 }, () => ["empty", "file", "link"]));
    expect(readFileSync(join(root, "folder-17", "file"), "utf8")).toBe("text 7");
    expect(readFileSync(join(root, "folder-3", "empty"))).toHaveLength(0);
    expect(readlinkSync(join(root, "folder-3", "link"))).toBe("../folder-3");
    expect(statSync(join(root, "folder-17", "file")).mode & 0o100).toBe(0o100);
    expect(statSync(join(root, "folder-18", "file")).mode & 0o100).toBe(0);
    await maker.finish(); // Nothing is left to wait for.
  });

  test("never replaces what is there, and makes nothing after that", async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, "taken"), "mine");
    const make = async (): Promise<void> => {
      const maker = open(entries);
      maker.writeFile(join(root, "taken"), Buffer.from("theirs"), 0o644);
      maker.whenMade(() => expect.unreachable("It was not made."));
      maker.writeFile(join(root, "later"), Buffer.from("theirs"), 0o644);
      await maker.finish();
    };
    await expect(make()).rejects.toMatchObject({ code: "EEXIST", message: expect.stringContaining("taken") });
    expect(readdirSync(root)).toEqual(["taken"]);
    expect(readFileSync(join(root, "taken"), "utf8")).toBe("mine");
  });

  test("needs the folder above, and ends when it is closed", async () => {
    const root = temporaryFolder();
    const maker = open(entries);
    const make = async (): Promise<void> => {
      maker.makeFolder(join(root, "a", "b"));
      await maker.finish();
    };
    await expect(make()).rejects.toMatchObject({ code: "ENOENT" });
    await maker.close();
    mkdirSync(join(root, "a"));
    expect(readdirSync(join(root, "a"))).toEqual([]);
  });
});

test("a thread that was closed makes nothing more, and nobody waits for it", async () => {
  const maker = open(1000);
  await maker.close();
  maker.makeFolder(join(temporaryFolder(), "a"));
  await expect(maker.finish()).rejects.toThrow("The thread that writes files ended.");
});

describe("what a thread has made in a folder", () => {
  const MANY = 1000;

  test("is known without reading it, as its content identity says", async () => {
    const root = temporaryFolder();
    const maker = open(MANY);
    const folder = join(root, "skill");
    for (const path of ["", "b", "b/c", "B", "empty"]) maker.makeFolder(join(folder, path));
    const files = ["SKILL.md", "b/x.sh", "b/c/y", "B/x", "b.md", "a b", ".hidden"];
    for (const [index, path] of files.entries())
      maker.writeFile(join(folder, path), Buffer.from("text".repeat(index)), index === 1 ? 0o755 : 0o644);
    await maker.finish();
    const read = identifyFolder(folder);
    if (!read.ok) expect.unreachable(read.refusal.message);
    const withoutStamps = read.value.files.map(({ stamp: _, ...file }) => file);
    expect(maker.filesIn(folder)).toEqual(withoutStamps);
    expect(maker.filesIn(join(folder, "b"))?.map(({ path }) => path)).toEqual(["c/y", "x.sh"]);
  });

  test("is not known with a link, with a name that a file system may store differently, or of another folder", async () => {
    const root = temporaryFolder();
    const maker = open(MANY);
    for (const name of ["linked", "linked/below", "named", "plain"]) maker.makeFolder(join(root, name));
    maker.makeLink(join(root, "linked/below/link"), "..");
    maker.writeFile(join(root, "named/caf\u00e9"), Buffer.from("text"), 0o644);
    await maker.finish();
    expect(maker.filesIn(join(root, "linked"))).toBeUndefined();
    expect(maker.filesIn(join(root, "named"))).toBeUndefined();
    expect(maker.filesIn(join(root, "other"))).toBeUndefined();
    expect(maker.filesIn(root)).toBeUndefined();
    expect(maker.filesIn(join(root, "plain"))).toEqual([]);
  });

  test("is not known where files cannot be made executable", async () => {
    const root = temporaryFolder();
    const maker = open(MANY);
    maker.makeFolder(join(root, "skill"));
    await maker.finish();
    const before = process.umask(0o111);
    onTestFinished(() => void process.umask(before));
    maker.writeFile(join(root, "skill/run.sh"), Buffer.from("text"), 0o755);
    await maker.finish();
    expect(statSync(join(root, "skill/run.sh")).mode & 0o111).toBe(0);
    expect(maker.filesIn(join(root, "skill"))).toBeUndefined();
  });

  test("is not known if this thread makes it", () => {
    const root = temporaryFolder();
    const maker = open(1);
    maker.makeFolder(join(root, "skill"));
    expect(maker.filesIn(join(root, "skill"))).toBeUndefined();
  });
});
