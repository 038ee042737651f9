import { appendFileSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestOf } from "../../../../test/support/locks.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { openKnownDigests } from "../../src/trust/content-identity.ts";

function makeCopy(): { readonly folder: string; readonly cache: string } {
  const root = temporaryFolder();
  const folder = join(root, "copy");
  writeTree(folder, { "SKILL.md": "text", "scripts/run.sh": "echo\n" });
  return { folder, cache: join(root, "cache") };
}

test("a folder is hashed once and known until a file in it changes, comes or goes", () => {
  const { folder, cache } = makeCopy();
  const of = (): string | undefined => openKnownDigests(cache).of(folder);
  const first = digestOf(folder);
  expect(of()).toBe(first);
  const [record = ""] = readdirSync(join(cache, "identities"));
  const kept = { digest: "sha256:from the record" };
  const file = join(cache, "identities", record);
  const stamps = JSON.parse(readFileSync(file, "utf8")).stamps;
  writeFileSync(file, JSON.stringify({ ...kept, stamps }));
  expect(of()).toBe(kept.digest);

  appendFileSync(join(folder, "SKILL.md"), "more");
  expect(of()).toBe(digestOf(folder));
  expect(of()).not.toBe(first);
  writeFileSync(join(folder, "new"), "");
  expect(of()).toBe(digestOf(folder));
});

test("a damaged record, or none, costs nothing but time", () => {
  const { folder, cache } = makeCopy();
  openKnownDigests(cache).of(folder);
  const [record = ""] = readdirSync(join(cache, "identities"));
  for (const text of ["", "null", "[]", "{}", '{"digest":1,"stamps":{}}', '{"digest":"x"}']) {
    writeFileSync(join(cache, "identities", record), text);
    expect(openKnownDigests(cache).of(folder)).toBe(digestOf(folder));
  }
  expect(openKnownDigests(undefined).of(folder)).toBe(digestOf(folder));
});

test("what is missing or too large to be hashed for a list is not known", () => {
  const { folder, cache } = makeCopy();
  expect(openKnownDigests(cache).of(join(folder, "missing"))).toBeUndefined();
  writeFileSync(join(folder, "large"), "");
  truncateSync(join(folder, "large"), 100 * 1024 * 1024);
  expect(openKnownDigests(cache).of(folder)).toBeUndefined();
});
