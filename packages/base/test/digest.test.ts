/** The digest is the one of `node:crypto`, whether C code makes it or not. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fipsOnly } from "../../../test/support/fips-only.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { digestBytes, isDigest } from "../src/digest.ts";

const MEGABYTE = 1024 * 1024;
const bytes = Buffer.from("some text that is longer than what is taken of it");
const shared = new Uint8Array(new SharedArrayBuffer(100), 7, 50);
shared.set(bytes.subarray(0, 50));

const CONTENTS: Readonly<Record<string, string | Uint8Array>> = {
  "an empty text": "",
  "no bytes": new Uint8Array(),
  "no bytes of a buffer that has some": bytes.subarray(4, 4),
  "a text": "text",
  "a text with a zero": "a\0b",
  "a text that is not ASCII": "é 三 🙂 \u2028 \ufeff",
  "a text with half characters": "\ud83d and \ude42, \ude42\ud83d",
  "a large text": "0123456789é".repeat(MEGABYTE / 2),
  "large bytes": Buffer.alloc(5 * MEGABYTE + 3, "abc"),
  "a part of a buffer": bytes.subarray(5, 9),
  "a part of an array": new Uint8Array(bytes).subarray(3),
  "bytes that threads share": shared,
};

for (const [what, content] of Object.entries(CONTENTS)) {
  test(`the digest of ${what} is the one of node:crypto`, () => {
    const digest = digestBytes(content);
    expect(digest).toBe(`sha256:${createHash("sha256").update(content).digest("hex")}`);
    expect(isDigest(digest)).toBe(true);
  });
}

/** Says how often C code was looked for before and after digests were made, and the digests. */
const PROGRAM = `
  const load = process.dlopen;
  let loads = 0;
  process.dlopen = (...args) => {
    loads++;
    load(...args);
  };
  const { digestBytes } = await import(${JSON.stringify(join(ROOT, "packages/base/src/digest.ts"))});
  const before = loads;
  const digests = ["", "text", "é\\ud83d"].map(digestBytes);
  console.log(JSON.stringify({ before, loads, digests }));
`;

function digestElsewhere(
  env: NodeJS.ProcessEnv,
  ...options: readonly string[]
): ReturnType<typeof spawnSync> {
  const args = ["--no-warnings", ...options, "--input-type=module", "--eval", PROGRAM];
  return spawnSync(process.execPath, args, { env, encoding: "utf8" });
}

for (const options of [[], ["--no-addons"]]) {
  test(`C code is looked for once, at the first digest, and digests are the same (${options.join() || "with it"})`, () => {
    const { stdout } = digestElsewhere({}, ...options);
    const { before, loads, digests } = JSON.parse(String(stdout)) as Readonly<Record<string, unknown>>;
    expect(before).toBe(0);
    expect(loads).toBeLessThanOrEqual(1); // None where it was not built.
    expect(digests).toEqual(["", "text", "é\ud83d"].map(digestBytes));
  });
}

test("where Node refuses digests, there is a fault and no digest", () => {
  const { stdout, stderr } = digestElsewhere(fipsOnly());
  expect(stdout).toBe("");
  expect(stderr).toContain("digital envelope routines");
});
