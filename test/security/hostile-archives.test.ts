/** Archives made to write elsewhere, to be two things at once, or to fill the disk: refused, and nothing is touched. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { paxItem, TAR_END, type TarItem, tarItem, tarOf, zipOf } from "../support/archives.ts";
import { refusal } from "../support/unpacking.ts";

describe("hostile names", () => {
  const NAMES: readonly (readonly [name: string, why: RegExp])[] = [
    ["../neighbour/evil.txt", /goes up/],
    ["a/../../neighbour/evil.txt", /goes up/],
    ["/etc/evil.txt", /absolute/],
    ["C:/evil.txt", /absolute/],
    ["C:evil.txt", /absolute/],
    ["\\\\host\\evil.txt", /absolute/],
    ["a\\..\\..\\evil.txt", /backslash/],
    ["a//evil.txt", /empty segment/],
    ["a/.../evil.txt", /goes up/],
    ["line\nbreak.txt", /control character/],
    ["bell\u0007.txt", /control character/],
    ["a\u202etxt.exe", /invisible characters/],
    [".git/config", /git folder/],
    ["a/.GIT/hooks/post-checkout", /git folder/],
    [`${"d/".repeat(40)}deep.txt`, /deep/],
    ["x".repeat(256), /name longer than 255 bytes/],
  ];

  test.each(NAMES)("%j is refused in a tar archive", async (name, why) => {
    expect(await refusal(tarOf({ name: "SKILL.md" }, paxItem({ path: name }), { name: "cut" }))).toMatch(why);
  });

  test.each(NAMES)("%j is refused in a zip archive", async (name, why) => {
    expect(await refusal(zipOf([{ name: "SKILL.md" }, { name, content: "x" }]))).toMatch(why);
  });

  test("names that are not UTF-8 are refused", async () => {
    const name = Buffer.from("caf\xe9.md", "latin1");
    expect(await refusal(tarOf({ name }))).toBe("source.unsafe: The name `caf\\xe9.md` is not UTF-8.");
    expect(await refusal(zipOf([{ name, flags: 0 }]))).toBe(
      "source.unsafe: The name `caf\\xe9.md` is not UTF-8.",
    );
  });

  const PAIRS: readonly (readonly [what: string, a: string, b: string, why: RegExp])[] = [
    ["letter case", "a/Readme.md", "a/README.md", /ignore letter case/],
    ["letter case of a folder", "Docs/a.md", "docs/b.md", /ignore letter case/],
    ["Unicode forms", "caf\u00e9.md", "cafe\u0301.md", /ignore letter case or Unicode/],
    ["special letters", "stra\u00dfe.md", "STRASSE.md", /ignore letter case/],
    ["nothing", "a.md", "a.md", /appears twice/],
    ["a file that is also a folder", "a", "a/b.md", /as a file and as a folder/],
  ];

  test.each(PAIRS)("two names that differ in %s are refused", async (_what, a, b, why) => {
    expect(await refusal(tarOf({ name: a, content: "1" }, { name: b, content: "2" }))).toMatch(why);
    expect(
      await refusal(
        zipOf([
          { name: a, content: "1" },
          { name: b, content: "2" },
        ]),
      ),
    ).toMatch(why);
  });
});

describe("hostile links and special files", () => {
  test.each(["/etc/passwd", "../neighbour", "a/../../neighbour", "", "..\\neighbour", "../../../../etc"])(
    "a link to %j is refused",
    async (target) => {
      expect(await refusal(tarOf({ name: "here", type: "2", target }))).toMatch(/source\.unsafe: .*link/);
      expect(await refusal(zipOf([{ name: "here", content: target, mode: 0o120777 }]))).toMatch(
        /source\.unsafe: .*link/,
      );
    },
  );

  test("a link over a link that leads out is refused", async () => {
    const why = await refusal(
      tarOf(
        { name: "d/up", type: "2", target: ".." },
        { name: "out", type: "2", target: "d/up/../neighbour" },
      ),
    );
    expect(why).toMatch(/`out` is a link to `d\/up\/\.\.\/neighbour`/);
  });

  test("nothing is written through a link", async () => {
    const link: TarItem = { name: "a", type: "2", target: "b" };
    expect(await refusal(tarOf(link, { name: "a/evil.txt", content: "x" }))).toMatch(
      /as a link and as a folder/,
    );
    expect(await refusal(tarOf(link, { name: "a", content: "x" }))).toMatch(/appears twice/);
    expect(await refusal(tarOf({ name: "a/x.txt" }, link))).toMatch(/as a folder and as a link/);
  });

  test.each([
    ["1", /hard link/],
    ["3", /device/],
    ["4", /device/],
    ["6", /FIFO/],
    ["S", /sparse/],
    ["V", /of the type `V`/],
    ["M", /of the type `M`/],
  ])("an entry of type %s is refused", async (type, why) => {
    expect(await refusal(tarOf({ name: "x", type, target: "SKILL.md" }))).toMatch(why);
  });

  test.each([0o010644, 0o020644, 0o060644, 0o140644])("a zip entry of mode %o is refused", async (mode) => {
    expect(await refusal(zipOf([{ name: "x", mode }]))).toMatch(/special file/);
  });
});

describe("too much", () => {
  test("an archive that unpacks to hundreds of times its size is refused", async () => {
    const zeros = { name: "zeros", content: Buffer.alloc(16 * 1024 * 1024) };
    expect(await refusal(gzipSync(tarOf(zeros)))).toMatch(
      /source\.limited: It unpacks to more than 200 times/,
    );
    expect(await refusal(zipOf([zeros]))).toMatch(/source\.limited: It unpacks to more than 200 times/);
  });

  test("limits on one file, on all of them and on their number hold", async () => {
    const items = [1, 2, 3].map((number) => ({ name: `${number}.txt`, content: "x".repeat(100) }));
    for (const bytes of [tarOf(...items), zipOf(items)]) {
      expect(await refusal(bytes, { fileBytes: 99 })).toMatch(
        /source\.limited: .*100 bytes; the limit is 99/,
      );
      expect(await refusal(bytes, { bytes: 299 })).toMatch(/source\.limited: .*more than 299 bytes/);
      expect(await refusal(bytes, { files: 2 })).toMatch(/source\.limited: /);
      expect(await refusal(bytes, { files: 3, bytes: 300, fileBytes: 100 })).toBe("nothing was refused");
    }
  });

  test("a hundred thousand files are refused", async () => {
    const one = tarItem({ name: "0" });
    const many = Buffer.concat(Array.from({ length: 100_000 }, () => one));
    for (let index = 0; index < 100_000; index++) renumber(many, index);
    expect(await refusal(gzipSync(Buffer.concat([many, TAR_END]), { level: 1 }), { files: 500 })).toMatch(
      /source\.limited: It has more than 500 files/,
    );
    expect(await refusal(zipOf([{ name: "a" }], { entries: 100_000 % 65_536 }), { files: 500 })).toMatch(
      /source\.limited: It has 34464 entries/,
    );
  });

  test("nothing but folders is bounded as well", async () => {
    const folders = Array.from({ length: 50 }, (_, index) => ({ name: `${index}/`, type: "5" }));
    expect(await refusal(tarOf(...folders), { files: 10 })).toMatch(/more than 40 folders/);
  });

  test("a long header is refused before it is read", async () => {
    const why = await refusal(tarOf({ name: "x", type: "x", size: 200_000 }));
    expect(why).toMatch(/source\.limited: A header of the tar archive has 200000 bytes/);
  });
});

/** Gives the header at that place a name of its own. */
function renumber(tar: Buffer, index: number): void {
  const header = tar.subarray(index * 512, index * 512 + 512);
  header.write(String(index).padStart(6, "0"), 0);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
}
