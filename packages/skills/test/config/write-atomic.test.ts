import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beginReplacing, writeAtomic } from "@metier/base/files";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";

describe("writing a whole file", () => {
  test("makes folders 0700 and the file 0600, and leaves nothing else behind", () => {
    const root = temporaryFolder();
    const file = join(root, "a/b/x.txt");
    expect(writeAtomic(file, "one")).toBe(true);
    expect(readFileSync(file, "utf8")).toBe("one");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, "a")).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(root, "a/b"))).toEqual(["x.txt"]);
  });

  test("keeps the mode of a file that is there", () => {
    const file = join(temporaryFolder(), "x.txt");
    writeFileSync(file, "one");
    chmodSync(file, 0o640);
    writeAtomic(file, Buffer.from("two"));
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  test.skipIf(process.getuid?.() !== 0)("keeps the owner (needs root to set up)", () => {
    const file = join(temporaryFolder(), "x.txt");
    writeFileSync(file, "one");
    chownSync(file, 12_345, 12_345);
    writeAtomic(file, "two");
    expect(statSync(file)).toMatchObject({ uid: 12_345, gid: 12_345 });
  });

  test("writes through links, also when their target is yet to be made", () => {
    const folder = temporaryFolder();
    symlinkSync("target.txt", join(folder, "link"));
    writeAtomic(join(folder, "link"), "one");
    expect(readFileSync(join(folder, "target.txt"), "utf8")).toBe("one");
    writeAtomic(join(folder, "link"), "two");
    expect(readFileSync(join(folder, "target.txt"), "utf8")).toBe("two");
    expect(readdirSync(folder).sort()).toEqual(["link", "target.txt"]);
  });

  test("does nothing when the condition fails, and cleans up when the write does", () => {
    const folder = temporaryFolder();
    const file = join(folder, "x.txt");
    writeFileSync(file, "one");
    expect(writeAtomic(file, "two", { onlyIf: () => false })).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("one");
    const fail = (): boolean => {
      throw new Error("no");
    };
    expect(() => writeAtomic(file, "two", { onlyIf: fail })).toThrow("no");
    expect(readdirSync(folder)).toEqual(["x.txt"]);
  });

  test("piece by piece, it is there when it is whole", () => {
    const folder = temporaryFolder();
    const file = join(folder, "x.txt");
    writeFileSync(file, "one");
    const replacement = beginReplacing(file);
    replacement.write("tw");
    expect(readFileSync(file, "utf8")).toBe("one");
    replacement.write("o");
    expect(replacement.finish()).toBe(true);
    replacement.drop();
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(replacement.finish()).toBe(false);
    const dropped = beginReplacing(file);
    dropped.write("three");
    dropped.drop();
    expect(dropped.finish()).toBe(false);
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(readdirSync(folder)).toEqual(["x.txt"]);
  });
});
