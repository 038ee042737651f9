import { execFileSync, spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  paxItem,
  type TarItem,
  tarItem,
  tarOf,
  type ZipItem,
  zipOf,
} from "../../../../test/support/archives.ts";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { refusal, unpack } from "../../../../test/support/unpacking.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const SKILL = skillText("name: pdf\ndescription: Reads PDF files.");

const HAS_GNU_TAR = spawnSync("tar", ["--version"]).stdout?.includes("GNU tar") ?? false;

describe("archives as people make them", () => {
  const FILES: readonly TarItem[] = [
    { name: "repo-main/", type: "5", mode: 0o755 },
    { name: "repo-main/SKILL.md", content: SKILL },
    { name: "repo-main/scripts/run.sh", content: "#!/bin/sh\n", mode: 0o4755 },
    { name: "repo-main/latest", type: "2", target: "scripts/run.sh" },
  ];

  verifies(192, "a `.tar.gz` is unpacked without the one folder around it", async () => {
    const { folder, read } = await unpack(gzipSync(tarOf(...FILES)));
    expect(readdirSync(folder).sort()).toEqual(["SKILL.md", "latest", "scripts"]);
    expect(read("SKILL.md")).toBe(SKILL);
    expect(readlinkSync(join(folder, "latest"))).toBe("scripts/run.sh");
  });

  test("only the executable bit is taken over", async () => {
    const { folder } = await unpack(tarOf(...FILES));
    expect(statSync(join(folder, "scripts/run.sh")).mode & 0o7777 & ~0o077).toBe(0o700);
    expect(statSync(join(folder, "SKILL.md")).mode & 0o7111).toBe(0);
  });

  verifies(192, "a `.zip` is unpacked with its modes and links", async () => {
    const { folder, read } = await unpack(
      zipOf([
        { name: "pdf/", mode: 0o40755 },
        { name: "pdf/SKILL.md", content: SKILL, mode: 0o100644 },
        { name: "pdf/run.sh", content: "#!/bin/sh\n", mode: 0o104755, method: 0 },
        { name: "pdf/latest", content: "run.sh", mode: 0o120777 },
        { name: "pdf/from-windows.txt", content: "no mode" },
      ]),
    );
    expect(read("SKILL.md")).toBe(SKILL);
    expect(read("latest")).toBe("#!/bin/sh\n");
    expect(lstatSync(join(folder, "latest")).isSymbolicLink()).toBe(true);
    expect(statSync(join(folder, "run.sh")).mode & 0o7700).toBe(0o700);
    expect(statSync(join(folder, "from-windows.txt")).mode & 0o111).toBe(0);
  });

  test("several entries at the top stay as they are", async () => {
    const { folder } = await unpack(tarOf({ name: "./a/SKILL.md" }, { name: "README.md" }));
    expect(readdirSync(folder).sort()).toEqual(["README.md", "a"]);
  });

  test("a lone file at the top stays where it is", async () => {
    expect((await unpack(tarOf({ name: "SKILL.md", content: SKILL }))).read("SKILL.md")).toBe(SKILL);
  });

  test("what the Finder adds is left out", async () => {
    const { folder } = await unpack(
      zipOf([
        { name: "pdf/SKILL.md", content: SKILL },
        { name: "__MACOSX/pdf/._SKILL.md", content: "x" },
      ]),
    );
    expect(readdirSync(folder)).toEqual(["SKILL.md"]);
  });

  test("long names in PAX, GNU and ustar form are read", async () => {
    const long = `${"folder/".repeat(20)}file.txt`;
    const { read } = await unpack(
      tarOf(
        { name: "SKILL.md" },
        paxItem({ path: `pax/${long}`, mtime: "1.5" }),
        { name: "cut", content: "pax" },
        { name: "././@LongLink", type: "L", content: `gnu/${long}\0` },
        { name: "cut", content: "gnu", magic: "ustar  \0" },
        { name: "file.txt", prefix: `ustar/${"folder/".repeat(20).slice(0, -1)}`, content: "ustar" },
        paxItem({ comment: "0123456789" }, "g"),
        { name: "after.txt", content: "after" },
      ),
    );
    expect([read(`pax/${long}`), read(`gnu/${long}`), read(`ustar/${long}`), read("after.txt")]).toEqual([
      "pax",
      "gnu",
      "ustar",
      "after",
    ]);
  });

  test("a zip64 archive is read", async () => {
    const { read } = await unpack(zipOf([{ name: "SKILL.md", content: SKILL, zip64: true }]));
    expect(read("SKILL.md")).toBe(SKILL);
  });

  test.skipIf(!HAS_GNU_TAR)("what GNU tar packs is what comes out (needs it)", async () => {
    const from = temporaryFolder();
    writeTree(from, { "pdf/SKILL.md": SKILL, [`pdf/${"a".repeat(90)}/${"b".repeat(90)}.txt`]: "deep" });
    for (const format of ["gnu", "pax", "ustar"]) {
      const bytes = execFileSync("tar", [`--format=${format}`, "-czf", "-", "pdf"], { cwd: from });
      const { read } = await unpack(bytes);
      expect(read(`${"a".repeat(90)}/${"b".repeat(90)}.txt`)).toBe("deep");
    }
  });
});

describe("damage and contradictions", () => {
  const whole = tarOf({ name: "SKILL.md", content: SKILL.repeat(50) });

  test.each([1, 300, 512, 600, whole.length - 1024])(
    "a tar archive that ends after %d bytes is refused",
    async (end) => {
      expect(await refusal(gzipSync(whole.subarray(0, end)))).toMatch(/source\.damaged: /);
    },
  );

  test("gzip data that is cut off, damaged, followed by more or packed twice is refused", async () => {
    const packed = gzipSync(whole);
    expect(await refusal(packed.subarray(0, -20))).toMatch(/source\.damaged: The gzip data/);
    const damaged = Buffer.from(packed);
    damaged[packed.length - 6] = (damaged[packed.length - 6] ?? 0) ^ 0xff;
    expect(await refusal(damaged)).toMatch(/source\.damaged: The gzip data/);
    expect(await refusal(Buffer.concat([packed, Buffer.from("more")]))).toMatch(
      /source\.damaged: The gzip data/,
    );
    expect(await refusal(Buffer.concat([packed, Buffer.from("\0more")]))).toMatch(/extra data after/);
    expect(await refusal(gzipSync(packed))).toMatch(/source\.damaged: /);
  });

  test("data behind the end of a tar archive is refused", async () => {
    expect(await refusal(Buffer.concat([whole, tarItem({ name: "evil.txt" })]))).toMatch(
      /extra data after the end/,
    );
  });

  const TRICKS: readonly (readonly [what: string, items: readonly TarItem[], why: RegExp])[] = [
    ["a size that is none", [paxItem({ size: "-1" }), { name: "a" }], /invalid size/],
    ["a size in another notation", [paxItem({ size: "1e3" }), { name: "a" }], /invalid size/],
    ["a size beyond the archive", [paxItem({ size: "999999" }), { name: "a" }], /truncated/],
    ["a name for everything", [paxItem({ path: "b" }, "g"), { name: "a" }], /more than one entry/],
    ["a sparse file", [paxItem({ "GNU.sparse.major": "1" }), { name: "a" }], /sparse/],
    [
      "two names",
      [paxItem({ path: "b" }), { name: "L", type: "L", content: "c\0" }, { name: "a" }],
      /two names/,
    ],
    ["a name twice", [paxItem({ path: "b" }), paxItem({ path: "c" }), { name: "a" }], /twice/],
    ["a name for nothing", [paxItem({ path: "b" })], /name that belongs to no entry/],
    [
      "a record without an end",
      [{ name: "x", type: "x", content: "99 path=b\n" }, { name: "a" }],
      /cannot be read/,
    ],
    [
      "a record without a length",
      [{ name: "x", type: "x", content: "path=b\n" }, { name: "a" }],
      /cannot be read/,
    ],
    ["a folder with content", [{ name: "a", type: "5", content: "x" }], /has content/],
    ["no magic", [{ name: "a", magic: "" }], /neither a zip archive nor a tar/],
  ];

  test.each(TRICKS)("a tar header with %s is refused", async (_what, items, why) => {
    expect(await refusal(tarOf(...items))).toMatch(why);
  });

  test("a wrong checksum is refused", async () => {
    const bytes = Buffer.from(whole);
    bytes[0] = 0x54;
    expect(await refusal(bytes)).toMatch(/wrong checksum/);
  });

  const ZIP_TRICKS: readonly (readonly [what: string, items: readonly ZipItem[], why: RegExp])[] = [
    ["another name in the list", [{ name: "a", listed: { name: "b" } }], /contradict/],
    ["another size in the list", [{ name: "a", content: "x", listed: { size: 0 } }], /contradict/],
    ["another checksum in the list", [{ name: "a", content: "x", listed: { crc: 1 } }], /contradict/],
    [
      "the same bytes twice",
      [
        { name: "a", content: "x" },
        { name: "a", content: "x", listed: { offset: 0 } },
      ],
      /zip archive overlap/,
    ],
    ["an encrypted file", [{ name: "a", content: "x", flags: 0x801 }], /encrypted/],
    [
      "strong encryption",
      [{ name: "a", content: "x", flags: 0x841 }],
      /damaged, truncated or of an unknown format: strong/,
    ],
    ["an unknown method", [{ name: "a", content: "x", method: 14 }], /method 14/],
    ["a folder with content", [{ name: "a/", content: "x" }], /has content/],
  ];

  test.each(ZIP_TRICKS)("a zip archive with %s is refused", async (_what, items, why) => {
    expect(await refusal(zipOf(items))).toMatch(why);
  });

  test("a wrong checksum in both places of a zip archive is noticed", async () => {
    const bytes = zipOf([{ name: "a", content: "content", method: 0 }]);
    bytes.write("CONTENT", bytes.indexOf("content"));
    expect(await refusal(bytes)).toMatch(/its checksum does not match/);
  });

  test("data before or behind a zip archive, and one that is cut off, are refused", async () => {
    const before = zipOf([{ name: "a", content: "x" }], { before: Buffer.from("PK\x03\x04 something else") });
    expect(await refusal(before)).toMatch(/bytes of other data before/);
    const after = zipOf([{ name: "a", content: "x" }], { after: Buffer.from("more") });
    expect(await refusal(after)).toMatch(/source\.damaged/);
    const cut = zipOf([{ name: "a", content: "x".repeat(1000), method: 0 }]).subarray(0, 500);
    expect(await refusal(cut)).toMatch(/source\.damaged/);
  });

  test("what is no archive, or an empty one, is refused", async () => {
    expect(await refusal(Buffer.from("<html>Not found</html>"))).toMatch(/neither a zip archive nor a tar/);
    expect(await refusal(Buffer.alloc(0))).toMatch(/neither a zip archive nor a tar/);
    expect(await refusal(zipOf([]))).toMatch(/It is empty/);
  });
});
