import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { buildFinder, finderOver } from "../../src/find/build-finder.ts";
import { readFindIndex, writeFindIndex } from "../../src/find/find-index-file.ts";
import { type FindableSkill, openFindIndex } from "../../src/find/open-find-index.ts";
import { MANIFEST_DEFAULTS } from "../../src/validate/build-manifest.ts";

const COUNT = 60;
const SUBJECTS = ["invoices", "maps", "deployments", "contracts", "charts", "émigrés", "报告"];
const QUERIES = [...SUBJECTS, "draw a chart", "deploy contract", "number 7", "invoces", "body of maps"];

interface Tree {
  readonly cacheFolder: string;
  readonly skills: readonly FindableSkill[];
  readonly bodies: readonly string[];
}

function describeSkill(root: string, number: number): FindableSkill {
  const name = `skill-${number}`;
  const description = `Handles ${SUBJECTS[number % SUBJECTS.length]}, number ${number}.`;
  const manifest = { ...MANIFEST_DEFAULTS, name, description, tags: [`tag${number % 4}`] };
  return { name, manifest, form: "directory", location: join(root, name, "SKILL.md"), root };
}

function bodyFor(number: number): string {
  return `# About\n\nThe body of ${SUBJECTS[(number * 3) % SUBJECTS.length]}: draw a chart, deploy contract.`;
}

function writeSkill(skill: FindableSkill, body: string): void {
  const { name, manifest, location } = skill;
  mkdirSync(join(location, ".."), { recursive: true });
  writeFileSync(location, `---\nname: ${name}\ndescription: ${manifest.description}\n---\n\n${body}\n`);
}

function plant(count = COUNT): Tree {
  const folder = temporaryFolder();
  const skills = Array.from({ length: count }, (_, number) => describeSkill(join(folder, "skills"), number));
  const bodies = skills.map((_, number) => bodyFor(number));
  for (const [number, skill] of skills.entries()) writeSkill(skill, bodies[number] ?? "");
  return { cacheFolder: join(folder, "cache"), skills, bodies };
}

function answersOf(finder: { find(query: string, k?: number): unknown }): readonly unknown[] {
  return QUERIES.map((query) => finder.find(query, COUNT));
}

/** What the finder over documents in memory answers. */
function expectedAnswers(skills: readonly FindableSkill[], bodies: readonly string[]): readonly unknown[] {
  const documents = skills.map(({ name, location, manifest }, number) => {
    const { description, tags } = manifest;
    return { name, location, description, tags, body: bodies[number] ?? "" };
  });
  return answersOf(buildFinder(documents));
}

function indexFile(cacheFolder: string): string {
  const names = readdirSync(join(cacheFolder, "find"));
  expect(names).toHaveLength(1);
  return join(cacheFolder, "find", names[0] ?? "");
}

/** Makes the index believe that it was written later, so that fresh files count as unchanged. */
function pretendLater(cacheFolder: string): void {
  const file = indexFile(cacheFolder);
  const bytes = readFileSync(file);
  const { subject } = JSON.parse(bytes.toString("utf8", 0, bytes.indexOf("\n")));
  const content = readFindIndex(file, subject);
  if (content === undefined) throw new Error("There is no index.");
  writeFindIndex(file, { ...content, writtenAt: content.writtenAt + 10_000 });
}

/** Its length stays, and so does all that follows. */
function editHeading(file: string, edit: (line: string) => string): void {
  const bytes = readFileSync(file);
  const end = bytes.indexOf("\n");
  const line = edit(bytes.toString("utf8", 0, end))
    .slice(0, end)
    .padEnd(end);
  writeFileSync(file, Buffer.concat([Buffer.from(line), bytes.subarray(end)]));
}

describe("the index of what can be found", () => {
  test("gives exactly what memory gives, cold, from disk and without a cache", async () => {
    const { cacheFolder, skills, bodies } = plant();
    const expected = expectedAnswers(skills, bodies);
    const cold = await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    const warm = await openFindIndex({ skills, cacheFolder });
    const uncached = await openFindIndex({ skills });
    expect([cold.filesRead, warm.filesRead, uncached.filesRead]).toEqual([COUNT, 0, COUNT]);
    expect([answersOf(cold), answersOf(warm), answersOf(uncached)]).toEqual([expected, expected, expected]);
  });

  test("reads only files that changed, and forgets what is gone", async () => {
    const { cacheFolder, skills, bodies } = plant();
    await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    const changed = bodies.with(5, "Entirely about submarines and invoces.");
    writeSkill(describeSkill(skills[5]?.root ?? "", 5), changed[5] ?? "");
    const left = skills.slice(1);
    const index = await openFindIndex({ skills: left, cacheFolder });
    expect(index.filesRead).toBe(1);
    expect(index.find("submarine")[0]?.name).toBe("skill-5");
    expect(answersOf(index)).toEqual(expectedAnswers(left, changed.slice(1)));
    pretendLater(cacheFolder);
    const again = await openFindIndex({ skills: left, cacheFolder });
    expect(again.filesRead).toBe(0);
    expect(answersOf(again)).toEqual(answersOf(index));
  });

  test("sees a manifest that says something else, and the skills in another order", async () => {
    const { cacheFolder, skills, bodies } = plant();
    await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    const renamed = skills
      .map((skill, number) =>
        number === 7 ? { ...skill, manifest: { ...skill.manifest, description: "Tames dragons." } } : skill,
      )
      .toReversed();
    const index = await openFindIndex({ skills: renamed, cacheFolder });
    expect(index.filesRead).toBe(1);
    expect(index.find("dragon")[0]?.name).toBe("skill-7");
    expect(answersOf(index)).toEqual(expectedAnswers(renamed, bodies.toReversed()));
  });

  test("does not trust an entry as young as the index", async () => {
    const { cacheFolder, skills } = plant();
    await openFindIndex({ skills, cacheFolder });
    expect((await openFindIndex({ skills, cacheFolder })).filesRead).toBe(COUNT);
  });

  test("sees a change of the same length and time, by the inode's own time", async () => {
    const { cacheFolder, skills, bodies } = plant();
    const [first] = skills;
    if (first === undefined) throw new Error("no skill");
    await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    const { atime, mtime } = statSync(first.location);
    writeSkill(first, (bodies[0] ?? "").replace("chart", "carts"));
    utimesSync(first.location, atime, mtime);
    expect((await openFindIndex({ skills, cacheFolder })).filesRead).toBe(1);
  });

  test.each([
    ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length - 5)],
    ["with other bytes in it", (bytes: Buffer) => Buffer.from(bytes).fill(0, bytes.length - 64)],
    [
      "with another number in its heading",
      (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replace(/"skills":\d/, '"skills":1'), "latin1"),
    ],
    ["without a heading", () => Buffer.from("nothing of use")],
    ["empty", () => Buffer.alloc(0)],
  ])("a file %s counts as not there", async (_, damage) => {
    const { cacheFolder, skills, bodies } = plant();
    await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    const file = indexFile(cacheFolder);
    writeFileSync(file, damage(readFileSync(file)));
    const index = await openFindIndex({ skills, cacheFolder });
    expect(index.filesRead).toBe(COUNT);
    expect(answersOf(index)).toEqual(expectedAnswers(skills, bodies));
  });

  test.each([
    [
      "of another version",
      (file: string) => editHeading(file, (line) => line.replace(/metier-find \d+/, "metier-find 1")),
    ],
    [
      "for other folders",
      (file: string) => editHeading(file, (line) => line.replace('"subject":"', '"subject":"/')),
    ],
    ["that others can write", (file: string) => chmodSync(file, 0o666)],
    [
      "that is a link",
      (file: string) => {
        renameSync(file, `${file}.moved`);
        symlinkSync(`${file}.moved`, file);
      },
    ],
  ])("an index %s is not used, and replaced by one that is", async (_, change) => {
    const { cacheFolder, skills, bodies } = plant();
    await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    const file = indexFile(cacheFolder);
    change(file);
    expect((await openFindIndex({ skills, cacheFolder })).filesRead).toBe(COUNT);
    rmSync(`${file}.moved`, { force: true });
    pretendLater(cacheFolder);
    const index = await openFindIndex({ skills, cacheFolder });
    expect([index.filesRead, lstatSync(file).isFile(), lstatSync(file).mode & 0o777]).toEqual([
      0,
      true,
      0o600,
    ]);
    expect(answersOf(index)).toEqual(expectedAnswers(skills, bodies));
  });

  test.skipIf(process.getuid?.() !== 0)("an index of another user is not used", async () => {
    const { cacheFolder, skills } = plant();
    await openFindIndex({ skills, cacheFolder });
    pretendLater(cacheFolder);
    chownSync(indexFile(cacheFolder), 12_345, 12_345);
    expect((await openFindIndex({ skills, cacheFolder })).filesRead).toBe(COUNT);
    expect(lstatSync(indexFile(cacheFolder)).uid).toBe(0);
  });

  test("wrong bytes anywhere make it count as not there", async () => {
    const { cacheFolder, skills } = plant();
    await openFindIndex({ skills, cacheFolder });
    const file = indexFile(cacheFolder);
    const bytes = readFileSync(file);
    const subject = skills[0]?.root ?? "";
    expect(readFindIndex(file, subject)).toBeDefined();
    fc.assert(
      fc.property(
        fc.nat(bytes.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        (at, change, isCut) => {
          const damaged = Buffer.from(isCut ? bytes.subarray(0, at) : bytes);
          if (!isCut) damaged[at] = (damaged[at] ?? 0) ^ change;
          writeFileSync(file, damaged);
          expect(readFindIndex(file, subject)).toBeUndefined();
        },
      ),
      { numRuns: 500 },
    );
  });

  test("numbers that nobody would write, with the right checksum, are refused or do no harm", async () => {
    const { cacheFolder, skills } = plant();
    await openFindIndex({ skills, cacheFolder });
    const file = indexFile(cacheFolder);
    const subject = skills[0]?.root ?? "";
    const content = readFindIndex(file, subject);
    if (content === undefined) throw new Error("There is no index.");
    const { arrays } = content;
    const names = Object.keys(arrays) as (keyof typeof arrays)[];
    const found = skills.map(({ name, location }) => ({ name, location }));
    const wild = fc.oneof(fc.constantFrom(0, 1, 2 ** 16 - 1, 2 ** 31, 2 ** 32 - 1), fc.nat());
    let refused = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(fc.tuple(fc.nat(), wild), { maxLength: 5 }),
        fc.nat(3),
        (name, edits, cut) => {
          const numbers = arrays[name].slice(0, Math.max(arrays[name].length - cut, 0));
          for (const [at, value] of edits) numbers[at % (numbers.length || 1)] = value;
          writeFindIndex(file, { ...content, arrays: { ...arrays, [name]: numbers } });
          const read = readFindIndex(file, subject);
          if (read === undefined) refused += 1;
          else
            for (const hits of answersOf(finderOver(found, read.arrays))) expect(hits).toBeInstanceOf(Array);
        },
      ),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  test("a cache that cannot be written is no fault", async () => {
    const { cacheFolder, skills } = plant();
    writeFileSync(cacheFolder, "a file where the folder would be");
    expect((await openFindIndex({ skills, cacheFolder })).find("maps").length).toBeGreaterThan(0);
  });

  test("few skills need no index", async () => {
    const { cacheFolder, skills, bodies } = plant(10);
    const index = await openFindIndex({ skills, cacheFolder });
    expect(answersOf(index)).toEqual(expectedAnswers(skills, bodies));
    expect(() => readdirSync(cacheFolder)).toThrow("ENOENT");
  });

  test("a skill without a file is found by what the program gives, one without a readable file by its manifest", async () => {
    const { cacheFolder, skills } = plant();
    const given: FindableSkill = { ...describeSkill("", 900), name: "given", location: "" };
    const all = [...skills, given];
    rmSync(skills[3]?.location ?? "");
    for (let round = 0; round < 2; round++) {
      const index = await openFindIndex({
        skills: all,
        cacheFolder,
        instructionsOf: (name) => (name === "given" ? "Feeds walruses." : undefined),
      });
      expect(index.find("walrus").map(({ name }) => name)).toEqual(["given"]);
      expect(index.find("number 3").map(({ name }) => name)).toContain("skill-3");
      pretendLater(cacheFolder);
    }
  });

  test("stays whole when many processes write it and are killed meanwhile", async () => {
    const { cacheFolder, skills, bodies } = plant();
    const list = join(cacheFolder, "../skills.json");
    writeFileSync(list, JSON.stringify(skills));
    const module = new URL("../../src/find/open-find-index.ts", import.meta.url).href;
    const program = `
      import { readFileSync } from "node:fs";
      import { openFindIndex } from ${JSON.stringify(module)};
      const skills = JSON.parse(readFileSync(${JSON.stringify(list)}, "utf8"));
      const rounds = Number(process.argv[1]);
      for (let round = 0; round < rounds; round++)
        await openFindIndex({ skills: skills.slice(round % 20), cacheFolder: ${JSON.stringify(cacheFolder)} });`;
    const args = ["--input-type=module", "-e", program];
    const children = Array.from({ length: 3 }, () => spawn(process.execPath, [...args, "100000"]));
    await new Promise((resolve) => setTimeout(resolve, 700));
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => once(child, "exit")));
    execFileSync(process.execPath, [...args, "1"]);
    pretendLater(cacheFolderWithout(cacheFolder, /\.tmp$/));
    const index = await openFindIndex({ skills, cacheFolder });
    expect(index.filesRead).toBe(0);
    expect(answersOf(index)).toEqual(expectedAnswers(skills, bodies));
  });
});

/** Drops what killed writers left behind. */
function cacheFolderWithout(cacheFolder: string, leftover: RegExp): string {
  for (const name of readdirSync(join(cacheFolder, "find"))) {
    if (leftover.test(name)) rmSync(join(cacheFolder, "find", name));
  }
  return cacheFolder;
}
