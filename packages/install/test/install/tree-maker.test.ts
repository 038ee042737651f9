import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
