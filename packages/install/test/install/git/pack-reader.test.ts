/** Packs as git makes them and as nobody should: what is read of them is what its id says. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeNoise } from "../../../../../test/support/ahead-fetching.ts";
import { createRepository, type Repository } from "../../../../../test/support/git-repository.ts";
import { type PackEntry, packEntry, packOf } from "../../../../../test/support/pack-bytes.ts";
import { createRandom } from "../../../../../test/support/random.ts";
import { skill } from "../../../../../test/support/world.ts";
import { createPackReader, type PackObject } from "../../../src/install/git/pack-reader.ts";
import { ALL, type Cut, digestOf, readPack } from "./read-pack.ts";

const [COMMIT, TREE, BLOB, TAG, OFFSET_DELTA, ID_DELTA] = [1, 2, 3, 4, 6, 7] as const;
const KINDS: Readonly<Record<number, string>> = { 1: "commit", 2: "tree", 3: "blob" };
const MEGABYTE = 1024 * 1024;

/** The text of each, to compare small ones. */
function textsOf(pack: Buffer, cut?: Cut): readonly string[] {
  return readPack(pack, cut).found.map(({ content }) => content.toString("latin1"));
}

const TEXT = Array.from({ length: 400 }, (_, line) => `Line ${line} of a text that stays.\n`).join("");

function createVersions(more: Readonly<Record<string, string | Buffer>> = {}): Repository {
  const files = { "SKILL.md": skill("a"), "empty.txt": "", "copy/SKILL.md": skill("a"), ...more };
  const repository = createRepository({ ...files, "text.md": TEXT });
  for (let version = 1; version <= 4; version++) {
    const text = TEXT.replace(`Line ${version * 50} `, `Another line ${version} `);
    repository.commit({ ...files, "text.md": text, [`new-${version}.md`]: `${text}The end.\n` });
  }
  const empty = repository.git("hash-object", "-t", "tree", "-w", "/dev/null");
  repository.commitRaw([
    { mode: "040000", name: "nothing", content: empty, type: "tree" },
    {
      mode: "040000",
      name: "x",
      content: repository.git("rev-parse", `${repository.git("rev-parse", "HEAD")}^{tree}`),
      type: "tree",
    },
  ]);
  return repository;
}

/** As one pack. */
function repack({ folder, git }: Repository, ...options: readonly string[]): Buffer {
  git(...options.filter((one) => one.includes("=")).flatMap((one) => ["-c", one]), "repack", "-adfq");
  const packs = join(folder, ".git/objects/pack");
  const name = readdirSync(packs).find((one) => one.endsWith(".pack"));
  return readFileSync(join(packs, name ?? ""));
}

const [WITHOUT_DELTAS, OFFSET_DELTAS, ID_DELTAS] = [
  ["pack.window=0", "pack.depth=0"],
  ["pack.window=50", "pack.depth=50"],
  ["pack.window=50", "pack.depth=50", "repack.useDeltaBaseOffset=false"],
] as const;

/** By id, as `git cat-file` gives each that is in a pack. */
function readWithGit({
  folder,
}: Repository): ReadonlyMap<string, Pick<PackObject, "content"> & { kind: string }> {
  const options = { cwd: folder, maxBuffer: 64 * MEGABYTE };
  const output = execFileSync("git", ["cat-file", "--batch", "--batch-all-objects"], options);
  const objects = new Map<string, { kind: string; content: Buffer }>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf("\n", at);
    const [id = "", kind = "", size = ""] = output.toString("latin1", at, end).split(" ");
    const next = end + 1 + Number(size);
    objects.set(id, { kind, content: output.subarray(end + 1, next) });
    at = next + 1;
  }
  return objects;
}

function countDeltas({ folder, git }: Repository): number {
  const packs = join(folder, ".git/objects/pack");
  const name = readdirSync(packs).find((one) => one.endsWith(".idx"));
  const lines = git("verify-pack", "-v", join(packs, name ?? "")).split("\n");
  return lines.filter((line) => /^[0-9a-f]{40} \w+ +\d+ \d+ \d+ \d+ [0-9a-f]{40}$/.test(line)).length;
}

function expectAll(repository: Repository, pack: Buffer, cut?: Cut): void {
  const objects = readWithGit(repository);
  const { found, count } = readPack(pack, cut);
  expect(count()).toBe(objects.size);
  expect(new Set(found.map(({ id }) => id))).toEqual(new Set(objects.keys()));
  expect(found).toHaveLength(objects.size);
  for (const { id, kind, content } of found) {
    expect(objects.get(id)?.kind).toBe(kind);
    expect(objects.get(id)?.content.equals(content)).toBe(true);
  }
}

for (const [what, options, hasDeltas] of [
  ["of whole objects", WITHOUT_DELTAS, false],
  ["with deltas that say how far back their base is", OFFSET_DELTAS, true],
  ["with deltas that name their base", ID_DELTAS, true],
] as const) {
  test(`a pack ${what} is read as git reads it, at once, byte by byte and in any pieces`, () => {
    const repository = createVersions();
    const pack = repack(repository, ...options);
    expect(countDeltas(repository) > 0).toBe(hasDeltas);
    expectAll(repository, pack);
    expectAll(repository, pack, () => 1);
    for (const seed of [1, 2, 3]) {
      const random = createRandom(seed);
      expectAll(repository, pack, () => Math.ceil(random() ** 3 * 3000));
    }
  });
}

test("a large file among small ones is read in any pieces", () => {
  const repository = createVersions({ "large.bin": makeNoise(3_000_000) });
  const pack = repack(repository, ...OFFSET_DELTAS);
  expect(pack.length).toBeGreaterThan(3_000_000);
  expectAll(repository, pack);
  const random = createRandom(4);
  expectAll(repository, pack, () => Math.ceil(random() * 400_000));
});

test("at a tag the rest is left to git", () => {
  const repository = createVersions();
  repository.git("tag", "--annotate", "v1", "--message", "one");
  const objects = readWithGit(repository);
  const { found, count } = readPack(repack(repository, ...OFFSET_DELTAS));
  expect(count()).toBe(objects.size);
  expect(found.length).toBeLessThan(objects.size);
  for (const { id, kind } of found) expect(objects.get(id)?.kind).toBe(kind);
});

function writeSize(size: number): readonly number[] {
  return size < 128 ? [size] : [0x80 | (size % 128), ...writeSize(Math.floor(size / 128))];
}

function blob(content: string | Buffer): PackEntry {
  return { type: BLOB, content: Buffer.from(content) };
}

const BASE = blob("The base of a delta.\n");
const BASE_ID = digestOf("blob", BASE.content);
const BASE_BYTES = packEntry(BASE).length;
const LAST = blob("The last one.\n");

/** `from` and `to`: the sizes that it says. */
function delta(
  commands: readonly number[],
  from: number,
  to: number,
  base: number | string = BASE_ID,
): PackEntry {
  const type = typeof base === "string" ? ID_DELTA : OFFSET_DELTA;
  return { type, base, content: Buffer.from([...writeSize(from), ...writeSize(to), ...commands]) };
}

const SIZE = BASE.content.length;
const [COPY_ALL, INSERT] = [
  [0x90, SIZE],
  [3, 0x61, 0x62, 0x63],
] as const;

test("deltas copy and insert, from whichever base they name", () => {
  const commands = [...INSERT, ...COPY_ALL, 0x91, 4, 4];
  const made = `abc${BASE.content}base`;
  for (const base of [BASE_ID, BASE_BYTES]) {
    const pack = packOf([BASE, delta(commands, SIZE, made.length, base), LAST]);
    for (const cut of [ALL, () => 1]) {
      const texts = textsOf(Buffer.concat([pack, Buffer.alloc(200)]), cut);
      expect(texts).toEqual([String(BASE.content), made, String(LAST.content)]);
    }
  }
});

test("a copy without a size is 64 KiB, and one with every byte of offset and size is read", () => {
  const base = blob(makeNoise(0x12345 + 70_000));
  const id = digestOf("blob", base.content);
  const commands = [0x80, 0xff, 0x45, 0x23, 0x01, 0x00, 0x03, 0x02, 0x00];
  const size = 0x10000 + 0x203;
  const { found } = readPack(packOf([base, delta(commands, base.content.length, size, id)]));
  const parts = [base.content.subarray(0, 0x10000), base.content.subarray(0x12345, 0x12345 + 0x203)];
  expect(found[1]?.content.equals(Buffer.concat(parts))).toBe(true);
});

test("a delta of a delta is of its kind, and one object is read as often as it comes", () => {
  const tree: PackEntry = { type: TREE, content: Buffer.alloc(0) };
  const commit: PackEntry = { type: COMMIT, content: Buffer.from("tree 0\n") };
  const second = delta([0x90, 7, 1, 0x0a], 7, 8, digestOf("commit", commit.content));
  const third = delta([0x90, 8, 1, 0x0a], 8, 9, digestOf("commit", Buffer.from("tree 0\n\n")));
  const { found } = readPack(packOf([commit, tree, tree, second, third, BASE, BASE]));
  expect(found.map(({ kind }) => kind)).toEqual([..."ctt", ..."cc", ..."bb"].map(kindOfLetter));
  expect(String(found[4]?.content)).toBe("tree 0\n\n\n");
});

function kindOfLetter(letter: string): string | undefined {
  return Object.values(KINDS).find((kind) => kind.startsWith(letter));
}

/** What is read of each before it stops. */
const DAMAGED: Readonly<Record<string, readonly [pack: Buffer, read: number]>> = {
  "with another magic word": [packOf([BASE], { magic: "JUNK" }), 0],
  "of another version": [packOf([BASE], { version: 3 }), 0],
  "without objects": [packOf([]), 0],
  "that has more objects than it counts": [packOf([BASE, LAST], { count: 1 }), 1],
  "that counts more objects than it has": [packOf([BASE], { count: 9 }), 1],
  "with an object of no kind": [packOf([BASE, { ...LAST, type: 0 }, LAST]), 1],
  "with an object of a kind to come": [packOf([BASE, { ...LAST, type: 5 }, LAST]), 1],
  "with a tag": [packOf([BASE, { ...LAST, type: TAG }, LAST]), 1],
  "with an object smaller than it says": [
    packOf([BASE, { ...LAST, size: LAST.content.length + 1 }, LAST]),
    1,
  ],
  "with an object larger than it says": [packOf([BASE, { ...LAST, size: LAST.content.length - 1 }, LAST]), 1],
  "with an object far larger than it says": [packOf([BASE, { ...blob("a".repeat(9999)), size: 1 }, LAST]), 1],
  "with a size that no number holds": [packOf([BASE, { ...LAST, size: 2 ** 52 }, LAST]), 1],
  "with a size that never ends": [Buffer.concat([packOf([]).fill(2, 11, 12), Buffer.alloc(40, 0xff)]), 0],
  "with a distance that never ends": [
    Buffer.concat([
      packOf([BASE], { count: 2 }).subarray(0, -20),
      Buffer.from([0x61]),
      Buffer.alloc(40, 0xff),
    ]),
    1,
  ],
  "with a base that is nowhere": [packOf([BASE, delta([...COPY_ALL], SIZE, SIZE, "1".repeat(40)), LAST]), 1],
  "with a base that comes later": [packOf([delta([...COPY_ALL], SIZE, SIZE), BASE, LAST]), 0],
  "with a base before the pack": [packOf([BASE, delta([...COPY_ALL], SIZE, SIZE, 5000), LAST]), 1],
  "with a base between objects": [packOf([BASE, delta([...COPY_ALL], SIZE, SIZE, BASE_BYTES - 1), LAST]), 1],
  "with a delta of itself": [packOf([BASE, delta([...COPY_ALL], SIZE, SIZE, 0), LAST]), 1],
  "with a delta of another size of base": [packOf([BASE, delta([...COPY_ALL], SIZE + 1, SIZE), LAST]), 1],
  "with a delta that makes less than it says": [
    packOf([BASE, delta([...COPY_ALL], SIZE, SIZE + 1), LAST]),
    1,
  ],
  "with a delta that makes more than it says": [
    packOf([BASE, delta([...COPY_ALL], SIZE, SIZE - 1), LAST]),
    1,
  ],
  "with a delta that copies from behind its base": [
    packOf([BASE, delta([0x91, 9, SIZE], SIZE, SIZE), LAST]),
    1,
  ],
  "with a delta that copies from far away": [
    packOf([BASE, delta([0x9f, 255, 255, 255, 255, 3], SIZE, 3), LAST]),
    1,
  ],
  "with a delta whose copy is cut": [packOf([BASE, delta([0xff, 1, 2], SIZE, SIZE), LAST]), 1],
  "with a delta whose text is cut": [packOf([BASE, delta([9, 0x61], SIZE, 9), LAST]), 1],
  "with a delta of the command 0": [packOf([BASE, delta([0], SIZE, 0), LAST]), 1],
  "with an empty delta": [
    packOf([BASE, { type: ID_DELTA, base: BASE_ID, content: Buffer.alloc(0) }, LAST]),
    1,
  ],
  "with a delta that makes too much": [packOf([BASE, delta([...COPY_ALL], SIZE, 9 * MEGABYTE), LAST]), 1],
  "with something after the last object": [Buffer.concat([packOf([BASE, LAST]), makeNoise(5000)]), 2],
};

for (const [what, [pack, read]] of Object.entries(DAMAGED)) {
  test(`a pack ${what} gives what comes before`, () => {
    expect(readPack(pack).found).toHaveLength(read);
    const more = Buffer.concat([pack, Buffer.alloc(200)]);
    expect(readPack(more, () => 1).found).toHaveLength(read);
  });
}

test("a pack that says it has nothing may be followed by anything, in any pieces", () => {
  const nothing = packOf([]).subarray(0, 12);
  for (const cut of [ALL, () => 1, () => 4, () => 5]) {
    expect(textsOf(Buffer.concat([nothing, Buffer.from("PACK and more of it")]), cut)).toEqual([]);
  }
});

test("a file of more than 8 MiB and what follows it is left to git", () => {
  const [fits, large] = [8 * MEGABYTE, 8 * MEGABYTE + 1].map((size) => blob(Buffer.alloc(size)));
  if (fits === undefined || large === undefined) throw new Error("There are two.");
  expect(readPack(packOf([BASE, fits, large, LAST])).found.map(({ content }) => content.length)).toEqual([
    SIZE,
    fits.content.length,
  ]);
});

test("after 64 MiB the rest is left to git, whether it is packed whole or as deltas", () => {
  const large = blob(Buffer.alloc(8 * MEGABYTE - 100));
  const commands = Array.from({ length: 127 }, () => [0x80]).flat();
  const size = 127 * 0x10000;
  const again = delta(commands, large.content.length, size, digestOf("blob", large.content));
  for (const entry of [large, again]) {
    const { found } = readPack(packOf([large, ...Array.from({ length: 12 }, () => entry), LAST]));
    expect(found.length).toBeGreaterThan(6);
    expect(found.reduce((sum, { content }) => sum + content.length, 0)).toBeLessThanOrEqual(64 * MEGABYTE);
  }
});

test("a short pack of deltas that take long is left to git, too", () => {
  const size = 700_000;
  const entry = delta([], SIZE, size);
  const copyOneByte = Buffer.from([0xff, 0, 0, 0, 0, 1, 0, 0]);
  const slow = { ...entry, content: Buffer.concat([entry.content, Buffer.alloc(8 * size, copyOneByte)]) };
  const { found } = readPack(packOf([BASE, ...Array.from({ length: 12 }, () => slow), LAST]));
  expect(found.at(-1)?.content).toHaveLength(size);
  expect(found.length).toBeLessThan(12);
});

test("what follows the objects is not kept", () => {
  const reader = createPackReader(10, () => undefined);
  reader.read(packOf([BASE]));
  const before = process.memoryUsage().arrayBuffers;
  const more = Buffer.alloc(MEGABYTE);
  for (let count = 0; count < 64; count++) reader.read(more);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * MEGABYTE);
});

test("a pack of too many objects is left to git", () => {
  const pack = packOf([BASE, LAST, blob("")]);
  expect(readPack(pack, ALL, 3).found).toHaveLength(3);
  expect(readPack(pack, ALL, 2).found).toHaveLength(0);
});

test("many small objects count as what it takes to keep them, too", () => {
  const entry = packEntry(blob(Buffer.alloc(1000)));
  const header = packOf([], { count: 60_000 }).subarray(0, 12);
  const pack = Buffer.concat([header, ...Array.from({ length: 60_000 }, () => entry)]);
  expect(readPack(pack, ALL, 60_000).found.length).toBeLessThan(50_000);
});

test("a pack that breaks off anywhere gives a part of its objects", () => {
  const pack = packOf([BASE, delta([...INSERT, ...COPY_ALL], SIZE, SIZE + 3), LAST, blob("")]);
  const whole = textsOf(pack);
  expect(whole).toHaveLength(4);
  for (let length = 0; length < pack.length; length++) {
    const texts = textsOf(pack.subarray(0, length));
    expect(texts).toEqual(whole.slice(0, texts.length));
  }
});

test("whatever is changed in a pack, each object that is read is its id's (seeds 1 to 250)", () => {
  const repository = createRepository({
    "SKILL.md": skill("a"),
    "text.md": TEXT,
    "other.md": `${TEXT}The end.\n`,
  });
  const good = [OFFSET_DELTAS, ID_DELTAS].map((options) => repack(repository, ...options));
  expect(countDeltas(repository)).toBeGreaterThan(0);
  for (let seed = 1; seed <= 250; seed++) {
    const random = createRandom(seed);
    const below = (limit: number): number => Math.floor(random() * limit);
    const pack = Buffer.from(good[seed % 2] ?? "");
    for (let changes = 1 + below(4); changes > 0; changes--) {
      const at = below(pack.length);
      const how = below(4);
      if (how === 0) pack[at] = below(256);
      else if (how === 1) pack[at] = (pack[at] ?? 0) ^ (1 << below(8));
      else if (how === 2) pack.copyWithin(at, below(pack.length), pack.length);
      else pack.fill(below(256), at, Math.min(pack.length, at + below(40)));
    }
    readPack(pack);
    readPack(pack, () => 1 + below(200));
  }
});
