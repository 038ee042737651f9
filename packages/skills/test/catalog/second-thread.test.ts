import { appendFileSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import { checkFromEnd } from "../../src/catalog/check-stamps.ts";
import { readRoot } from "../../src/catalog/read-root.ts";
import {
  type StartReadAhead,
  type StartStampCheck,
  startReadAhead,
  startStampCheck,
} from "../../src/catalog/second-thread.ts";
import { openIndexes } from "../../src/catalog/skill-index.ts";
import { CHANGED } from "../../src/catalog/stamps.ts";
import type { SkillRoot } from "../../src/sources/skill-roots.ts";

const COUNT = 300;

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
  readAhead?: StartReadAhead,
  stampCheck?: StartStampCheck,
) {
  const indexes = openIndexes({
    cacheFolder: cache,
    profile: "standard",
    startReadAhead: readAhead,
    startStampCheck: stampCheck,
    atLeast: { skills: 1, folders: 10 },
  });
  return readRoot(root, { profile: "standard", nested: false, knownRoots: [], index: indexes.of(root) });
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

test("two threads find the same as one, and leave the same index", async () => {
  const made = makeSkills();
  const alone = await readWith({ ...made, cache: `${made.cache}-alone` });
  const both = await readWith(made, startReadAhead);
  expect(both).toEqual(alone);
  expect(entriesOf(made.cache)).toEqual(entriesOf(`${made.cache}-alone`));
});

test("an unchanged tree is the same with a second thread, and a change is seen wherever it is", async () => {
  const made = makeSkills({ isPlain: true });
  const old = await readWith(made);
  makeOlder(made.cache);
  let asked = 0;
  const withThread = (): ReturnType<typeof readWith> =>
    readWith(made, undefined, (work) => {
      asked++;
      return startStampCheck(work);
    });
  expect(await withThread()).toEqual(old);
  for (const name of ["skill-0", "skill-150", "zz-outer"]) {
    appendFileSync(join(made.root.path, name, "SKILL.md"), "\nMore.\n");
    const changed = await withThread();
    expect(changed).toEqual(await readWith({ ...made, cache: `${made.cache}-${name}` }));
    makeOlder(made.cache);
  }
  expect(asked).toBe(4);
});

test("the other thread checks every stamp from the end, and says when it saw a change", async () => {
  const made = makeSkills({ isPlain: true });
  await readWith(made);
  makeOlder(made.cache);
  const check = async (): Promise<"nothing" | "a change" | undefined> => {
    let found: "nothing" | "a change" | undefined;
    await readWith(made, undefined, (work) => {
      const places = new Int32Array([work.text.length, 0]);
      checkFromEnd({ ...work, places });
      found = places[0] === work.start ? "nothing" : places[0] === CHANGED ? "a change" : undefined;
      return undefined;
    });
    return found;
  };
  expect(await check()).toBe("nothing");
  utimesSync(join(made.root.path, "skill-0", "SKILL.md"), 1, 1);
  expect(await check()).toBe("a change");
});

test("where no thread can be had, one reads everything", async () => {
  const made = makeSkills();
  const alone = await readWith({ ...made, cache: `${made.cache}-alone` });
  expect(await readWith(made, () => undefined)).toEqual(alone);
  expect(await readWith({ ...made, cache: `${made.cache}-mute` }, () => ({ turn: () => undefined }))).toEqual(
    alone,
  );
});
