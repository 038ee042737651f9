import { gunzipSync } from "node:zlib";
import { digestBytes } from "@metier/base/digest";
import { describe, expect, test } from "vitest";
import { readFolder } from "../../../../test/support/git-fetching.ts";
import { createRandom } from "../../../../test/support/random.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { unpackArchive } from "../../src/install/archives/unpack-archive.ts";
import { SOURCE_LIMITS } from "../../src/install/source-limits.ts";
import { type TarEntry, writeGzip, writeTar } from "../../src/publish/stage-skill.ts";

function file(path: string, text: string, executable = false): TarEntry {
  return { kind: "file", path, executable, bytes: Buffer.from(text) };
}

describe("gzip", () => {
  const next = createRandom(7);
  const below = (most: number): number => Math.floor(next() * most);
  const noise = Buffer.from(Array.from({ length: 70_000 }, () => below(256)));
  const words = Array.from({ length: 9000 }, () => ["skill", "the ", "a file\n", "é", "- "][below(5)]);
  test.each([
    ["nothing", Buffer.alloc(0)],
    ["one byte", Buffer.from("a")],
    ["a repetition that overlaps itself", Buffer.from("abcabcabcabcabcabc")],
    ["one byte many times", Buffer.alloc(100_000, 0x20)],
    ["noise, which is stored", noise],
    ["words", Buffer.from(words.join(""))],
    ["a repetition from further away than the window", Buffer.concat([noise, noise])],
  ])("packs %s so that zlib unpacks it again", async (_, content) => {
    expect(gunzipSync(await writeGzip(content)).equals(content)).toBe(true);
  });

  test("has no time, no name and no word about the machine in its head", async () => {
    expect([...(await writeGzip(Buffer.from("a"))).subarray(0, 10)]).toEqual([
      0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3,
    ]);
  });

  test("makes text smaller and leaves noise about as large as it is", async () => {
    const text = Buffer.from(words.join(""));
    expect((await writeGzip(text)).length).toBeLessThan(text.length / 2);
    expect((await writeGzip(noise)).length).toBeLessThan(noise.length + 100);
  });
});

describe("a tar archive", () => {
  const long = `${"folder/".repeat(20)}file.txt`;
  const entries: readonly TarEntry[] = [
    file("SKILL.md", "text\n"),
    file(long, "long\n"),
    { kind: "link", path: "latest", target: "SKILL.md" },
    file("naïve.md", "other letters\n"),
    file("run.sh", "#!/bin/sh\n", true),
  ];

  test("is read by the installer as what was written: long names, other letters, links, executable files", async () => {
    const into = temporaryFolder();
    const { folder } = await unpackArchive(await writeGzip(writeTar(entries)), into, {
      limits: SOURCE_LIMITS,
    });
    expect(readFolder(folder)).toEqual({
      "SKILL.md": "text\n",
      [long]: "long\n",
      "latest@": "SKILL.md",
      "naïve.md": "other letters\n",
      "run.sh*": "#!/bin/sh\n",
    });
  });

  test("has the bytes it had when this was written, on whatever machine", async () => {
    expect(digestBytes(await writeGzip(writeTar(entries)))).toBe(
      "sha256:b575caeb0f9f234d27a81079987d0c317fb47be44cfc02f37e7405ae91ebae2d",
    );
  });
});
