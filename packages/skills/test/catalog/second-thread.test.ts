import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { skillText, temporaryFolder } from "../../../../test/support/temporary.ts";
import { readRoot } from "../../src/catalog/read-root.ts";
import { type StartReadAhead, startReadAhead } from "../../src/catalog/second-thread.ts";
import { openIndexes } from "../../src/catalog/skill-index.ts";
import type { SkillRoot } from "../../src/sources/skill-roots.ts";

const COUNT = 300;

/** Skills side by side; one needs the full parser, one is in a group, one has a skill below it. */
function makeSkills(): { readonly root: SkillRoot; readonly cache: string } {
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
  write("zz-outer/nested", "name: nested\ndescription: Inside.");
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

function readWith({ root, cache }: ReturnType<typeof makeSkills>, start?: StartReadAhead) {
  const atLeast = { skills: 1, folders: 10 };
  const indexes = openIndexes({ cacheFolder: cache, profile: "standard", startReadAhead: start, atLeast });
  return readRoot(root, { profile: "standard", nested: false, knownRoots: [], index: indexes.of(root) });
}

const entriesOf = (cache: string): readonly string[] => {
  const folder = join(cache, "index");
  const [name = ""] = readdirSync(folder);
  return readFileSync(join(folder, name), "utf8").split("\n").slice(3);
};

test("two threads find the same as one, and leave the same index", async () => {
  const made = makeSkills();
  const alone = await readWith({ ...made, cache: `${made.cache}-alone` });
  let given = 0;
  const both = await readWith(made, (work) => {
    const ahead = startReadAhead(work);
    return ahead && { turn: (name) => count(ahead.turn(name)) };
  });
  expect(both).toEqual(alone);
  expect(entriesOf(made.cache)).toEqual(entriesOf(`${made.cache}-alone`));
  expect(given).toBeLessThanOrEqual(COUNT + 3);

  function count<Value>(turn: Value): Value {
    if (turn !== undefined) given++;
    return turn;
  }
});

test("where no thread can be had, one reads everything", async () => {
  const made = makeSkills();
  const alone = await readWith({ ...made, cache: `${made.cache}-alone` });
  expect(await readWith(made, () => undefined)).toEqual(alone);
  expect(await readWith({ ...made, cache: `${made.cache}-mute` }, () => ({ turn: () => undefined }))).toEqual(
    alone,
  );
});
