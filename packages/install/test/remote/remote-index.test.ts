import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { checkEntry } from "../../src/remote/remote-entry.ts";
import { changeIndex, indexFile, isCurrent, readIndex, remoteFolder } from "../../src/remote/remote-index.ts";

const URI = "skill://refunds/SKILL.md";
const ENTRY = checkEntry({
  uri: URI,
  frontmatter: { name: "refunds", description: "It is one." },
  resources: [{ uri: URI, digest: `sha256:${"0".repeat(64)}`, size: 1 }],
});

function writeIndex(): { readonly cache: string } {
  const places = { cache: temporaryFolder() };
  if (!ENTRY.ok) throw new Error("The entry is wrong.");
  const skills = [{ entry: ENTRY.value, askedAt: 1000, ttlMs: 500, cacheScope: "private" } as const];
  changeIndex(places, "docs", () => ({ listedAt: 1000, skills, refused: [] }));
  return places;
}

test("what was kept is read as it was", () => {
  const read = readIndex(writeIndex(), "docs");
  expect(read).toMatchObject({ ok: true, value: { listedAt: 1000, skills: [{ entry: { uri: URI } }] } });
});

test("what was kept is current for as long as the server said, and not before it said so", () => {
  const skill = { askedAt: 1000, ttlMs: 500 };
  expect([999, 1000, 1499, 1500].map((now) => isCurrent(skill, now))).toEqual([false, true, true, false]);
});

test("an entry that someone changed into what no server may say is not used", () => {
  const places = writeIndex();
  const file = indexFile(places, "docs");
  writeFileSync(file, readFileSync(file, "utf8").replaceAll(URI, "skill://../../etc/SKILL.md"));
  expect(readIndex(places, "docs")).toMatchObject({ refusal: { code: "remote.index-unusable" } });
});

test("a file that others can write to is not used", () => {
  const places = writeIndex();
  chmodSync(indexFile(places, "docs"), 0o666);
  expect(readIndex(places, "docs")).toMatchObject({
    refusal: { message: expect.stringContaining("other users can write to it") },
  });
});

test("a server that was never asked is no fault", () => {
  const places = { cache: temporaryFolder() };
  expect(readIndex(places, "docs")).toMatchObject({
    refusal: { code: "remote.never-asked", severity: "info" },
  });
});

test("a folder tells its server, and no two skills share one", () => {
  const places = { cache: "/cache" };
  const place = (label: string, uri: string, digest: string): string =>
    remoteFolder(places, label, { uri, digest, frontmatter: { name: "refunds", description: "" } });
  const folders = [
    place("docs", URI, "sha256:1"),
    place("other", URI, "sha256:1"),
    place("docs", "skill://a/refunds/SKILL.md", "sha256:1"),
    place("docs", URI, "sha256:2"),
  ];
  expect(new Set(folders).size).toBe(4);
  expect(folders[1]).toMatch(/^\/cache\/mcp\/other\/skills\/[0-9a-f]{32}\/refunds$/);
});

test.each([
  ["a time that no date has", { listedAt: 1e300 }],
  ["a refusal that is none", { refused: [null] }],
  ["a refusal without words", { refused: [{ code: "remote.entry", message: 1 }] }],
])("%s makes the whole of it unusable", (_what, wrong) => {
  const places = writeIndex();
  const file = indexFile(places, "docs");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...wrong }));
  expect(readIndex(places, "docs")).toMatchObject({ refusal: { code: "remote.index-unusable" } });
});
