/** Installed skills are many roots side by side, with links to them elsewhere: read together, and once. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import { startNodeThread } from "../../src/catalog/node-thread.ts";
import { readRoot, rememberReads } from "../../src/catalog/read-root.ts";
import type { StartThread } from "../../src/catalog/root-threads.ts";
import { openIndexes } from "../../src/catalog/skill-index.ts";
import type { SkillRoot } from "../../src/sources/skill-roots.ts";
import { nativeThreads } from "./native-threads.ts";

const COUNT = 30;
/** What stands in an installed folder when nobody interferes, and what may stand there when somebody does. */
const ODD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "odd-flat@0000000000000000": { "other.md": skillText("name: other\ndescription: Flat.") },
  "odd-empty@0000000000000000": {},
  "odd-ignored@0000000000000000": {
    ".gitignore": "SKILL.md\n",
    "SKILL.md": skillText("name: odd-ignored\ndescription: Hidden."),
  },
  "odd-nested@0000000000000000": {
    "SKILL.md": skillText("name: odd-nested\ndescription: Around another."),
    "inner/SKILL.md": skillText("name: inner\ndescription: Inside."),
  },
};

function makeStore(odd = ODD): { readonly folder: string; readonly roots: readonly SkillRoot[] } {
  const folder = temporaryFolder();
  const usual = Array.from({ length: COUNT }, (_, number): [string, Record<string, string>] => [
    `skill-${number}@0123456789abcdef`,
    { "SKILL.md": skillText(`name: skill-${number}\ndescription: Number ${number}.`) },
  ]);
  const roots = [...usual, ...Object.entries(odd)].map(([name, files]): SkillRoot => {
    const path = join(folder, "store", name);
    mkdirSync(path, { recursive: true });
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(join(path, file, ".."), { recursive: true });
      writeFileSync(join(path, file), text);
    }
    const [called = ""] = name.split("@");
    const locked = { lock: join(folder, "lock"), name: called, origin: called, digest: "" };
    return { scope: "installed", kind: "foreign", path, rank: 1, explicit: true, grantFolder: path, locked };
  });
  return { folder, roots };
}

/** A folder of another client with a link to each. */
function linkAll(folder: string, roots: readonly SkillRoot[]): SkillRoot {
  const path = join(folder, "client");
  mkdirSync(path);
  for (const { path: target, locked } of roots) symlinkSync(target, join(path, locked?.name ?? ""));
  return { scope: "user", kind: "vouched", path, rank: 2, explicit: false, grantFolder: path };
}

async function readAll(roots: readonly SkillRoot[], cacheFolder: string, startThread?: StartThread) {
  const atLeast = { skills: 1, folders: 10 };
  const indexes = openIndexes({ cacheFolder, profile: "standard", roots, startThread, atLeast });
  const knownRoots = new Set(roots.map(({ path }) => path));
  const reads = rememberReads();
  const contents = [];
  for (const root of roots) {
    const index = indexes.of(root);
    contents.push(await readRoot(root, { profile: "standard", nested: false, knownRoots, index, reads }));
  }
  indexes.saveShared();
  const folder = join(cacheFolder, "index");
  const index = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(3));
  return { contents, index };
}

const THREADS: readonly { readonly kind: string; readonly start: StartThread }[] = [
  { kind: "a thread of Node", start: startNodeThread },
  ...nativeThreads,
];

test.each(THREADS)(
  "$kind reads installed skills ahead, with the result and the index of one thread alone",
  async ({ start }) => {
    const { folder, roots } = makeStore();
    const all = [...roots, linkAll(folder, roots)];
    let asked = 0;
    const counted: StartThread = (folders) => {
      asked = folders;
      return start(folders);
    };
    const alone = await readAll(all, join(folder, "one"));
    expect(await readAll(all, join(folder, "two"), counted)).toEqual(alone);
    expect(asked).toBe(roots.length);
    expect(alone.contents.map(({ skills }) => skills.length)).toEqual([
      ...Array<number>(COUNT).fill(1),
      ...[1, 0, 0, 1], // A flat file in an installed folder is its skill, as it always was.
      COUNT + 1,
    ]);
  },
);

test("a link to an installed skill is not read again, unless its name or a diagnostic could differ", async () => {
  const warned = skillText("name: warned\ndescription: Has a field.\nunknown-field: 1");
  const { folder, roots } = makeStore({ "warned@0000000000000000": { "SKILL.md": warned } });
  const client = linkAll(folder, roots);
  symlinkSync(roots[0]?.path ?? "", join(client.path, "another-name"));
  const reads = rememberReads();
  const found: string[] = [];
  const watched = {
    ...reads,
    find: (...args: Parameters<typeof reads.find>) => {
      const read = reads.find(...args);
      if (read) found.push(args[0].candidate.defaultName);
      return read;
    },
  };
  const options = {
    profile: "standard",
    nested: false,
    knownRoots: new Set(roots.map(({ path }) => path)),
  } as const;
  for (const root of roots) await readRoot(root, { ...options, reads: watched });
  const linked = await readRoot(client, { ...options, reads: watched });
  const plain = await readRoot(client, options);
  expect(linked).toEqual(plain);
  expect(found).not.toContain("warned");
  expect(found).not.toContain("another-name");
  expect(found.length).toBeGreaterThanOrEqual(COUNT - 1); // One of two links to the same folder is entered.
  expect(linked.diagnostics.map(({ path }) => path)).toContain(join(client.path, "warned", "SKILL.md"));
});

test("links to installed skills show what their folders have, also if nobody listed these before", async () => {
  const { folder, roots } = makeStore();
  symlinkSync(roots[0]?.path ?? "", join(roots[1]?.path ?? "", "link"));
  const client = linkAll(folder, roots);
  const options = {
    profile: "standard",
    nested: false,
    knownRoots: new Set([join(folder, "store")]),
  } as const;
  for (const nested of [false, true]) {
    const alone = await readRoot(client, { ...options, nested });
    const reads = rememberReads();
    for (const root of roots) await readRoot(root, { ...options, nested, reads });
    expect(await readRoot(client, { ...options, nested, reads })).toEqual(alone);
    expect(alone.diagnostics.map(({ code }) => code)).toContain("scan.ignored");
  }
});

test("a root around the store is indexed as a whole, also if a link leads to it", async () => {
  const { folder, roots } = makeStore({});
  symlinkSync(join(folder, "store"), join(folder, "link"));
  const [first] = roots;
  for (const name of ["store", "link"]) {
    const around = { ...linkAll(temporaryFolder(), []), path: join(folder, name) };
    const cache = join(folder, `cache-${name}`);
    const before = await readAll([...roots, around], cache);
    expect(before.contents.at(-1)?.skills).toHaveLength(roots.length);
    const inner = join(first?.path ?? "", `inner-${name}`);
    mkdirSync(inner);
    writeFileSync(join(inner, "SKILL.md"), skillText("name: inner\ndescription: New."));
    const after = await readAll([...roots, around], cache);
    const fresh = await readAll([...roots, around], join(folder, `fresh-${name}`));
    expect(after.contents).toEqual(fresh.contents);
    expect(after.contents.at(-1)?.diagnostics).not.toEqual(before.contents.at(-1)?.diagnostics);
  }
});
