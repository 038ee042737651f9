import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import { checkFromEnd } from "../../src/catalog/check-stamps.ts";
import { createBatchWriter, openFetched } from "../../src/catalog/fetched-batch.ts";
import { startNodeThread } from "../../src/catalog/node-thread.ts";
import { readRoot } from "../../src/catalog/read-root.ts";
import { openRootThreads, type StartThread } from "../../src/catalog/root-threads.ts";
import type { SecondThread } from "../../src/catalog/second-thread.ts";
import { openIndexes } from "../../src/catalog/skill-index.ts";
import { CHANGED } from "../../src/catalog/thread-tasks.ts";
import type { SkillRoot } from "../../src/sources/skill-roots.ts";
import type { Profile } from "../../src/validate/profiles.ts";
import { nativeThreads } from "./native-threads.ts";

const COUNT = 300;
const THREADS: readonly { readonly kind: string; readonly start: StartThread }[] = [
  { kind: "a thread of Node", start: startNodeThread },
  ...nativeThreads,
];

/** Skills side by side; one needs the full parser, one is in a group. Unless it is plain, one has a skill below it. */
function makeSkills({ isPlain = false } = {}): { readonly root: SkillRoot; readonly cache: string } {
  const folder = temporaryFolder();
  const path = join(folder, "skills");
  const write = (place: string, frontmatter: string): void => {
    mkdirSync(join(path, place), { recursive: true });
    writeFileSync(join(path, place, "SKILL.md"), skillText(frontmatter));
  };
  for (let number = 0; number < COUNT; number++)
    write(`skill-${number}`, `name: skill-${number}\ndescription: Number ${number}.`);
  write("zz-full", "name: zz-full\ndescription: &it |+\n  Text.\nlicense: *it");
  write("zz-group/inner", "name: inner\ndescription: In a group.");
  write("zz-outer", "name: zz-outer\ndescription: Around another.");
  if (!isPlain) write("zz-outer/nested", "name: nested\ndescription: Inside.");
  const root: SkillRoot = {
    scope: "user",
    path,
    kind: "own",
    rank: 1,
    explicit: false,
    grantFolder: path,
  };
  return { root, cache: join(folder, "cache") };
}

function readWith(
  { root, cache }: ReturnType<typeof makeSkills>,
  startThread?: StartThread,
  { profile = "standard", nested = false }: { readonly profile?: Profile; readonly nested?: boolean } = {},
) {
  const indexes = openIndexes({
    cacheFolder: cache,
    profile,
    roots: [root],
    startThread,
    atLeast: { skills: 1, folders: 10 },
  });
  return readRoot(root, { profile, nested, knownRoots: new Set(), index: indexes.of(root) });
}

/** A thread that was asked for, with the names of what it was then asked to do. */
function watched(asked: string[], thread: Partial<SecondThread> = {}): SecondThread {
  const call =
    <Args extends unknown[], Value>(name: string, method: ((...args: Args) => Value) | undefined) =>
    (...args: Args): Value => {
      asked.push(name);
      return method ? method(...args) : expect.unreachable(`${name} was not expected`);
    };
  return {
    readAhead: call("readAhead", thread.readAhead),
    checkStamps: call("checkStamps", thread.checkStamps),
    dismiss: call("dismiss", thread.dismiss ?? (() => undefined)),
  };
}

/** As if the index had been written long after the skills: what is younger is not believed. */
function makeOlder(cache: string): void {
  const folder = join(cache, "index");
  for (const name of readdirSync(folder)) {
    const [heading, written, ...entries] = readFileSync(join(folder, name), "utf8").split("\n");
    writeFileSync(join(folder, name), [heading, String(Number(written) + 3_600_000), ...entries].join("\n"));
  }
}

const entriesOf = (cache: string): readonly string[] => {
  const folder = join(cache, "index");
  const [name = ""] = readdirSync(folder);
  return readFileSync(join(folder, name), "utf8").split("\n").slice(3);
};

/** Files of which the second thread passes on all, not only the head; one has a description in its body alone. */
const ODD_FILES: Readonly<Record<string, string | Buffer>> = {
  "aa-blank-first": "\n---\nname: aa-blank-first\ndescription: After a blank line.\n---\n\nText.\n",
  "aa-bytes": Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x0a]),
  "aa-comment":
    "---\n# Only a comment\n---\nname: aa-comment\ndescription: In the second block.\n---\nText.\n",
  "aa-crlf": "---\r\nname: aa-crlf\r\ndescription: Windows.\r\n---\r\n\r\nText.\r\n",
  "aa-empty": "",
  "aa-glued": "---\nname: aa-glued\ndescription: No line of its own.\n--- Text.\n",
  "aa-mark": "\uFEFF---\nname: aa-mark\ndescription: With a mark.\n---\nText.\n",
  "aa-no-body": "---\nname: aa-no-body\ndescription: Nothing below.\n---\n",
  "aa-no-description": "---\nname: aa-no-description\n---\n\nWhat it does.\n\nMore.\n",
  "aa-not-ascii": "---\nname: aa-not-ascii\ndescription: Grüße – 🙂.\n---\n\n  Eins 🙂\n\nzwei…\n\n\n",
  "aa-rule": "---\nname: aa-rule\ndescription: Never closed.\n\nText: here\n\n---\n\nMore text.\n",
  "aa-tabs": "---\nname: aa-tabs\ndescription:\tTabs.\n---\n\t\n\t\tText.\t\n\t\n",
};

test.each(THREADS)(
  "$kind finds the same as one thread alone, and leaves the same index",
  async ({ start }) => {
    const made = makeSkills();
    for (const [name, content] of Object.entries(ODD_FILES)) {
      mkdirSync(join(made.root.path, name));
      writeFileSync(join(made.root.path, name, "SKILL.md"), content);
    }
    for (const profile of ["standard", "strict", "lenient"] as const) {
      const [one, two] = [`${made.cache}-${profile}-one`, `${made.cache}-${profile}-two`];
      const alone = await readWith({ ...made, cache: one }, undefined, { profile });
      expect(await readWith({ ...made, cache: two }, start, { profile })).toEqual(alone);
      expect(entriesOf(two)).toEqual(entriesOf(one));
    }
  },
);

test("the thread of a large root starts before anything is read, and not for a small one", () => {
  const { root, cache } = makeSkills();
  let started = 0;
  const startThread = (): undefined => {
    started++;
  };
  const openWith = (folders: number): number => {
    started = 0;
    openIndexes({
      cacheFolder: cache,
      profile: "standard",
      roots: [root],
      startThread,
      atLeast: { skills: 1, folders },
    });
    return started;
  };
  // A file system on which the number of links says nothing shows only in the listing how large a folder is.
  const counts = statSync(root.path).nlink > COUNT;
  expect(openWith(10)).toBe(counts ? 1 : 0);
  expect(openWith(10 * COUNT)).toBe(0);
});

test("the early thread is for the first root that is large enough for it", () => {
  const [small, large] = [makeSkills(), makeSkills()];
  const asked: string[] = [];
  const threads = openRootThreads({
    roots: [small.root, large.root],
    atLeast: 10,
    indexFile: (root) => join(root, "absent"),
    startThread: () => (asked.push("start") === 2 ? watched(asked) : undefined),
  });
  const counts = statSync(small.root.path).nlink > COUNT;
  expect(asked).toEqual(counts ? ["start", "start"] : []);
  expect(threads.take(small.root.path)).toBeUndefined();
  expect(threads.take(large.root.path) !== undefined).toBe(counts);
});

test("what was left out of a batch is asked for in vain, and the rest is found in any order", () => {
  const writer = createBatchWriter();
  writer.addFolder("/a/", "1", "2");
  writer.addFile("/a/SKILL.md", "2", Buffer.from("whole"));
  writer.addHead("/b/SKILL.md", "3", { yaml: "b: 1\n", bodyLine: 5, body: { lines: 1, characters: 4 } });
  const fetched = openFetched(writer.take());
  expect(fetched.folder("/b/")).toBeUndefined();
  expect(fetched.file("/b/SKILL.md")?.content).toMatchObject({ yaml: "b: 1\n", bodyLine: 5 });
  expect(fetched.file("/c/SKILL.md")).toBeUndefined();
  expect(fetched.folder("/a/")).toEqual({ stamp: "1", listing: "2" });
  expect(fetched.file("/a/SKILL.md")?.content.toString()).toBe("whole");
});

test.each(THREADS)("$kind sees that a tree is unchanged, and a change wherever it is", async ({ start }) => {
  const made = makeSkills({ isPlain: true });
  const old = await readWith(made);
  makeOlder(made.cache);
  const asked: string[] = [];
  const withThread = (): ReturnType<typeof readWith> =>
    readWith(made, (folders) => {
      const thread = start(folders);
      return thread && watched(asked, thread);
    });
  expect(await withThread()).toEqual(old);
  for (const name of ["skill-0", "skill-150", "zz-outer"]) {
    appendFileSync(join(made.root.path, name, "SKILL.md"), "\nMore.\n");
    const changed = await withThread();
    expect(changed).toEqual(await readWith({ ...made, cache: `${made.cache}-${name}` }));
    makeOlder(made.cache);
  }
  expect(asked.filter((name) => name === "checkStamps")).toHaveLength(4);
});

test("what was read before the other thread told of a change does not count, nor does its index", async () => {
  const made = makeSkills({ isPlain: true });
  await readWith(made);
  makeOlder(made.cache);
  const path = join(made.cache, "index", readdirSync(join(made.cache, "index"))[0] ?? "");
  // One entry is damaged, so that something is read again, for a new index, before the change is known.
  writeFileSync(path, readFileSync(path, "utf8").replace('"Number 9."', "1234567890 "));
  const added = join(made.root.path, "aa-added");
  mkdirSync(added);
  writeFileSync(join(added, "SKILL.md"), skillText("name: aa-added\ndescription: New."));
  let ends = 0;
  const checkStamps: SecondThread["checkStamps"] = () => ({
    isUnchanged: () => true,
    end: () => ends++ < 0,
  });
  const changed = await readWith(made, () => watched([], { checkStamps }));
  expect(ends).toBe(1);
  const fresh = { ...made, cache: `${made.cache}-fresh` };
  expect(changed).toEqual(await readWith(fresh));
  expect(changed.skills.map(({ manifest }) => manifest.name)).toContain("aa-added");
  expect(entriesOf(made.cache)).toEqual(entriesOf(fresh.cache));
  expect(readdirSync(join(made.cache, "index"))).toHaveLength(1);
});

test("the other thread checks every stamp from the end, and says when it saw a change", async () => {
  const made = makeSkills({ isPlain: true });
  await readWith(made);
  makeOlder(made.cache);
  const check = async (): Promise<"nothing" | "a change" | undefined> => {
    let found: "nothing" | "a change" | undefined;
    const checkStamps: SecondThread["checkStamps"] = (work) => {
      const places = new Int32Array([work.end, 0]);
      checkFromEnd({ ...work, kind: "check-stamps", places });
      found = places[0] === work.start ? "nothing" : places[0] === CHANGED ? "a change" : undefined;
      return { isUnchanged: () => undefined, end: () => true };
    };
    await readWith(made, () => watched([], { checkStamps }));
    return found;
  };
  expect(await check()).toBe("nothing");
  utimesSync(join(made.root.path, "skill-0", "SKILL.md"), 1, 1);
  expect(await check()).toBe("a change");
});

test("a thread without a task is told to end", async () => {
  const made = makeSkills({ isPlain: true });
  await readWith(made, undefined, { nested: true });
  makeOlder(made.cache);
  const asked: string[] = [];
  // The search was another one, and what it read of each folder is known.
  await readWith(made, () => watched(asked));
  expect(asked).toEqual(["dismiss"]);
});

test("where no thread can be had, one reads everything", async () => {
  const made = makeSkills();
  const alone = await readWith({ ...made, cache: `${made.cache}-alone` });
  expect(await readWith(made, () => undefined)).toEqual(alone);
  const mute: StartThread = () => watched([], { readAhead: () => ({ turn: () => undefined }) });
  expect(await readWith({ ...made, cache: `${made.cache}-mute` }, mute)).toEqual(alone);
});
