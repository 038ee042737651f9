/**
 * The fast ways of listing against the plain one, over generated trees: with an index that is not there yet, with what
 * another thread has read, natively or not, with an index of the same tree, and after a change. Whatever way it goes, the answer is the same.
 */
import {
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { compareText } from "@metier/base/text";
import fc from "fast-check";
import { expect, test } from "vitest";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import { fetchBatch } from "../../src/catalog/fetch-ahead.ts";
import {
  createBatchWriter,
  type Fetched,
  type FetchedBatch,
  openFetched,
} from "../../src/catalog/fetched-batch.ts";
import { readRoot } from "../../src/catalog/read-root.ts";
import type { SecondThread } from "../../src/catalog/second-thread.ts";
import { openIndexes } from "../../src/catalog/skill-index.ts";
import type { SkillRoot } from "../../src/sources/skill-roots.ts";
import { nativeThreads } from "../catalog/native-threads.ts";

/** `npm run fuzz` asks for more; more than 5,000 trees take hours. */
const RUNS = Math.min(Number(process.env.METIER_FUZZ_RUNS ?? 40), 5000);
const HOUR_MS = 3_600_000;
/** Longer than the grain of any file system's clock: what changes later has another stamp. */
const GRAIN_MS = 12;
const SHARED_MEMORY = "/dev/shm";

const segment = fc.constantFrom(
  "a",
  "b",
  "c",
  "scripts",
  "SKILL.md",
  "skill.md",
  "node_modules",
  ".git",
  "ä",
);
const fileName = fc.oneof(
  { weight: 6, arbitrary: fc.constant("SKILL.md") },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "skill.md",
      "Skill.md",
      "SKILL.MD",
      "README.md",
      "x.yaml",
      "flat.md",
      "run.sh",
    ),
  },
  { weight: 1, arbitrary: fc.constant(".gitignore") },
);
const skillContent = fc.constantFrom(
  skillText("name: a\ndescription: A skill."),
  skillText("name: b\ndescription: 'Another: skill.'\nallowed-tools: Read", "Longer.\n"),
  skillText("description: >-\n  Folded\n  text."),
  skillText("name: [broken\ndescription: x"),
  "No frontmatter.\n",
  "\ufeff---\nname: a\n---\n",
  "",
);
const ignoreContent = fc.constantFrom("b\n", "SKILL.md\n", "*\n!a\n", "c/\n", "");
const folderPath = fc.array(segment, { minLength: 0, maxLength: 7 }).map((parts) => parts.join("/"));
const file = fc.record({
  kind: fc.constant("file"),
  folder: folderPath,
  name: fileName,
  content: skillContent,
  ignore: ignoreContent,
});
const link = fc.record({
  kind: fc.constant("link"),
  folder: folderPath,
  name: fc.constantFrom("link", "SKILL.md", "skill.md", "flat.md", "a"),
  target: fc.constantFrom("..", ".", "a", "../b", "SKILL.md", "nowhere", "OUTSIDE", "KNOWN"),
});
const emptyFolder = fc.record({ kind: fc.constant("folder"), folder: folderPath });
/** What most trees are: skills side by side, where the fast ways go furthest. */
const plainSkill = fc.record({
  kind: fc.constant("file"),
  folder: fc.integer({ min: 0, max: 12 }).map((number) => `skill-${number}`),
  name: fc.constant("SKILL.md"),
  content: skillContent,
  ignore: ignoreContent,
});
const made = fc.oneof(
  { weight: 6, arbitrary: plainSkill },
  { weight: 4, arbitrary: file },
  { weight: 1, arbitrary: link },
  { weight: 1, arbitrary: emptyFolder },
);
const plainTree = fc.array(plainSkill, { minLength: 1, maxLength: 16 });
const tree = fc.oneof(plainTree, fc.array(made, { minLength: 1, maxLength: 24 }));
type Made = typeof made extends fc.Arbitrary<infer Value> ? Value : never;

const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("make"), what: made }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("remove", "rename", "grow"), at: fc.nat() }) },
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

interface Ground {
  readonly root: string;
  readonly outside: string;
  readonly known: string;
  readonly cache: string;
}

/** On two kinds of file system, where there are two. */
function clearGround(number: number): Ground {
  const isInMemory = number % 2 === 1 && existsSync(SHARED_MEMORY);
  const parent = isInMemory ? mkdtempSync(join(SHARED_MEMORY, "metier-search-")) : temporaryFolder();
  const ground = {
    root: join(parent, "root"),
    outside: join(parent, "outside"),
    known: join(parent, "known"),
    cache: join(parent, "cache"),
  };
  for (const folder of Object.values(ground)) mkdirSync(folder);
  for (const place of [ground.outside, ground.known]) {
    mkdirSync(join(place, "far"));
    writeFileSync(join(place, "far", "SKILL.md"), skillText("name: far\ndescription: Far away."));
  }
  return ground;
}

/** What is in the way of another entry is not made. */
function make({ root, outside, known }: Ground, what: Made): void {
  try {
    const folder = join(root, what.folder);
    mkdirSync(folder, { recursive: true });
    if (what.kind === "file" && "name" in what && "content" in what)
      writeFileSync(join(folder, what.name), what.name === ".gitignore" ? what.ignore : what.content, {
        flag: "wx",
      });
    if ("target" in what) {
      const target = what.target
        .replace("OUTSIDE", join(outside, "far"))
        .replace("KNOWN", join(known, "far"));
      symlinkSync(target, join(folder, what.name));
    }
  } catch (fault) {
    if (!["EEXIST", "ENOTDIR", "ELOOP", "ENOENT"].includes((fault as NodeJS.ErrnoException).code ?? ""))
      throw fault;
  }
}

/** Links are entries, and not gone through. */
function entriesBelow(folder: string): readonly Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => [
    entry,
    ...(entry.isDirectory() ? entriesBelow(join(folder, entry.name)) : []),
  ]);
}

function apply(ground: Ground, step: Change): void {
  if ("what" in step) {
    make(ground, step.what);
    return;
  }
  const entries = entriesBelow(ground.root);
  const entry = entries[step.at % Math.max(1, entries.length)];
  if (entry === undefined) return;
  const path = join(entry.parentPath, entry.name);
  if (step.kind === "remove") rmSync(path, { recursive: true, force: true });
  else if (step.kind === "rename") moveAside(path, `moved-${step.at % 7}`);
  else if (entry.isFile()) writeFileSync(path, `${readFileSync(path, "utf8")}\nMore.\n`);
}

function moveAside(path: string, name: string): void {
  const target = join(dirname(path), name);
  if (lstatSync(target, { throwIfNoEntry: false }) === undefined) renameSync(path, target);
}

/** The root and what is asked of it, as a list asks; with an index only where `indexes` are given. */
async function list(ground: Ground, nested: boolean, indexes?: ReturnType<typeof openIndexes>) {
  const root = rootOf(ground);
  const knownRoots = new Set([ground.root, ground.known]);
  const content = await readRoot(root, { profile: "standard", nested, knownRoots, index: indexes?.of(root) });
  return JSON.parse(JSON.stringify(content)) as unknown;
}

function open(ground: Ground, thread?: SecondThread, roots: readonly SkillRoot[] = []) {
  const atLeast = { skills: 1, folders: 1 };
  const startThread = (): SecondThread | undefined => thread;
  return openIndexes({ cacheFolder: ground.cache, profile: "standard", roots, startThread, atLeast });
}

/** The root's size is known, so its thread compares stamps where there is an index. */
function openNative(ground: Ground) {
  return open(ground, startNative(), [rootOf(ground)]);
}

function rootOf({ root: path }: Ground): SkillRoot {
  return { scope: "user", path, kind: "own", rank: 1, explicit: false, grantFolder: path };
}

/** What a thread would have fetched of every second pair of folders, without the thread. */
function fetchEveryOther({ root }: Ground): SecondThread {
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = folders.map(({ name }) => name).sort(compareText);
  const batches = new Map<number, FetchedBatch>();
  const writer = createBatchWriter();
  for (let batch = 0; batch * 2 < names.length; batch += 2) {
    batches.set(batch, fetchBatch({ root, withHeads: true }, names.slice(batch * 2, batch * 2 + 2), writer));
  }
  const readAhead: SecondThread["readAhead"] = ({ folders: asked }) => {
    expect(asked).toEqual(names);
    const opened = new Map<number, Fetched>();
    return {
      turn(name) {
        const number = Math.floor(names.indexOf(name) / 2);
        const batch = batches.get(number);
        if (batch !== undefined && !opened.has(number)) opened.set(number, openFetched(batch));
        return opened.get(number);
      },
    };
  };
  const checkStamps: SecondThread["checkStamps"] = () => expect.unreachable();
  return { readAhead, checkStamps, dismiss: () => undefined };
}

/** The native thread, or none. */
function startNative(): SecondThread | undefined {
  return nativeThreads[0]?.start();
}

/** As if the index had been written long after everything else: what is younger is not believed. */
function letTimePass({ cache }: Ground): void {
  const folder = join(cache, "index");
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [heading = "", times = "", ...entries] = readFileSync(join(folder, name), "utf8").split("\n");
    const later = times.replace(/^\d+/, (time) => String(Number(time) + HOUR_MS));
    writeFileSync(join(folder, name), [heading, later, ...entries].join("\n"));
  }
}

function isRefound({ cache }: Ground): boolean {
  const folder = join(cache, "index");
  const [name] = existsSync(folder) ? readdirSync(folder) : [];
  return (
    name !== undefined && /\nend \d+(?: nested)? of \d+\n$/.test(readFileSync(join(folder, name), "utf8"))
  );
}

function wait(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

test("every way of listing finds and says the same", { timeout: HOUR_MS }, async () => {
  let number = 0;
  let refound = 0; // By trees of which the index knows that a search had nothing to say.
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.array(change, { maxLength: 3 }),
      fc.boolean(),
      async (entries, steps, nested) => {
        const ground = clearGround(number++);
        try {
          for (const entry of entries) make(ground, entry);
          const plain = await list(ground, nested);
          expect(await list(ground, nested, open(ground, fetchEveryOther(ground)))).toEqual(plain);
          rmSync(join(ground.cache, "index"), { recursive: true, force: true });
          expect(await list(ground, nested, openNative(ground))).toEqual(plain);
          letTimePass(ground);
          if (isRefound(ground)) refound++;
          expect(await list(ground, nested, open(ground))).toEqual(plain);
          expect(await list(ground, nested, openNative(ground))).toEqual(plain);
          expect(await list(ground, !nested, open(ground))).toEqual(await list(ground, !nested));
          letTimePass(ground);
          wait(GRAIN_MS);
          for (const step of steps) apply(ground, step);
          const changed = await list(ground, nested);
          expect(await list(ground, nested, openNative(ground))).toEqual(changed);
          expect(await list(ground, nested, open(ground))).toEqual(changed);
        } finally {
          rmSync(dirname(ground.root), { recursive: true, force: true });
        }
      },
    ),
    { numRuns: RUNS },
  );
  expect(number).toBeGreaterThanOrEqual(RUNS);
  expect(refound).toBeGreaterThan(RUNS / 10);
});
