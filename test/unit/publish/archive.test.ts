import { gunzipSync, inflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { unpackArchive } from "../../../src/install/archives/unpack-archive.ts";
import { SOURCE_LIMITS } from "../../../src/install/source-limits.ts";
import { deflate } from "../../../src/publish/archive/deflate.ts";
import { writeGzip } from "../../../src/publish/archive/write-gzip.ts";
import { type TarEntry, writeTar } from "../../../src/publish/archive/write-tar.ts";
import { digestBytes } from "../../../src/trust/identify-file.ts";
import { readFolder } from "../../support/git-fetching.ts";
import { createRandom } from "../../support/random.ts";
import { temporaryFolder } from "../../support/temporary.ts";

function file(path: string, text: string, executable = false): TarEntry {
  return { kind: "file", path, executable, bytes: Buffer.from(text) };
}

describe("deflate", () => {
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
  ])("packs %s so that zlib unpacks it again", (_, content) => {
    expect(inflateRawSync(deflate(content)).equals(content)).toBe(true);
    expect(gunzipSync(writeGzip(content)).equals(content)).toBe(true);
  });

  test("makes text smaller and leaves noise as large as it is", () => {
    const text = Buffer.from(words.join(""));
    expect(deflate(text).length).toBeLessThan(text.length / 2);
    expect(deflate(noise).length).toBe(noise.length + 10);
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
    const { folder } = await unpackArchive(writeGzip(writeTar(entries)), into, { limits: SOURCE_LIMITS });
    expect(readFolder(folder)).toEqual({
      "SKILL.md": "text\n",
      [long]: "long\n",
      "latest@": "SKILL.md",
      "naïve.md": "other letters\n",
      "run.sh*": "#!/bin/sh\n",
    });
  });

  test("has the bytes it had when this was written, on whatever machine", () => {
    expect(digestBytes(writeGzip(writeTar(entries)))).toBe(
      "sha256:19745882c4857adb6369c9253dcb037ed18a29157052dfe75783d3c196a58fdc",
    );
  });
});
