/** Many skills that come into the store together. */
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { metierPlaces, type Places } from "@metier/base/places";
import { expect, onTestFinished, test, vi } from "vitest";
import { digestOf } from "../../../../test/support/locks.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { skill } from "../../../../test/support/world.ts";
import { storeFolder, userLockFile } from "../../src/lock/lock.ts";
import { collectGarbage, GARBAGE_AGE_MS } from "../../src/lock/lock-store.ts";
import { findDifference, placeAllInStore } from "../../src/lock/store.ts";

const NAMES = ["alpha", "beta", "gamma", "delta"] as const;

interface Fetched {
  readonly name: string;
  readonly folder: string;
  readonly digest: string;
}

/** Side by side in the quarantine. */
function fetchAll(places: Places): readonly Fetched[] {
  return NAMES.map((name) => {
    const folder = join(places.quarantine, "source", name);
    writeTree(folder, { "SKILL.md": skill(name), "notes/a.md": `About ${name}.` });
    return { name, folder, digest: digestOf(folder) };
  });
}

function makePlaces(): Places {
  return metierPlaces(temporaryFolder());
}

function placeAll(places: Places, skills: readonly Fetched[]): ReturnType<typeof placeAllInStore> {
  return placeAllInStore(places, skills, userLockFile(places));
}

function nth(skills: readonly Fetched[], index: number): Fetched {
  const one = skills[index];
  if (one === undefined) throw new Error(`There is no skill ${index}.`);
  return one;
}

function expectStored(places: Places, skills: readonly Fetched[]): void {
  for (const one of skills) expect(findDifference(storeFolder(places, one), one.digest)).toBeUndefined();
  expect(readdirSync(join(places.quarantine, "source"))).toEqual([]);
}

/** As if each of these were on a file system of its own: no machine for tests has one. */
function mountEach(folders: readonly string[]): void {
  const { renameSync } = fs;
  replaceCall("renameSync", (from: string, to: string) => {
    if (!folders.includes(from)) return renameSync(from, to);
    throw Object.assign(new Error("EXDEV: cross-device link not permitted"), { code: "EXDEV" });
  });
}

/** Until the test ends. */
function replaceCall(name: "renameSync" | "cpSync", call: (from: string, to: string) => void): void {
  const spy = vi.spyOn(fs, name).mockImplementation(call as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

test("one with the wrong content keeps all of them out, and nothing of any is left", () => {
  for (const wrong of NAMES.keys()) {
    const places = makePlaces();
    const skills = fetchAll(places);
    writeFileSync(join(nth(skills, wrong).folder, "SKILL.md"), "changed by someone");
    expect(placeAll(places, skills)).toMatchObject({ ok: false, refusal: { code: "lock.changed-content" } });
    expect(readdirSync(places.store)).toEqual([]);
    expect(readdirSync(join(places.quarantine, "source"))).toEqual([]);
  }
});

test("what happens to where they came from after they were identified changes none of them", () => {
  const places = makePlaces();
  const skills = fetchAll(places);
  let asked = 0;
  const watched = {
    store: places.store,
    get state() {
      asked += 1;
      // Asked for again when the files of each are remembered: all are identified, and none is in its place.
      if (asked > 1) rmSync(join(places.quarantine, "source"), { recursive: true, force: true });
      return places.state;
    },
  };
  expect(placeAllInStore(watched, skills, userLockFile(places))).toMatchObject({ ok: true });
  expect(asked).toBeGreaterThan(1);
  for (const one of skills) expect(findDifference(storeFolder(places, one), one.digest)).toBeUndefined();
});

test("those that are closed to their owner come in, wherever they are among the others", () => {
  for (const mode of [0, 0o300, 0o500]) {
    const places = makePlaces();
    const skills = fetchAll(places);
    for (const { folder } of skills.slice(1, 3)) chmodSync(folder, mode);
    expect(placeAll(places, skills)).toMatchObject({ ok: true });
    expectStored(places, skills);
  }
});

test("one that cannot be renamed is copied, though the one beside it could be", () => {
  const places = makePlaces();
  const skills = fetchAll(places);
  const other = nth(skills, 3);
  mountEach([nth(skills, 1).folder, other.folder]);
  // One of them takes the place of something wrong, which is kept.
  const taken = storeFolder(places, other);
  writeTree(taken, { "SKILL.md": "not what it is called" });
  const placed = placeAll(places, skills);
  if (!placed.ok) throw new Error(placed.refusal.message);
  expectStored(places, skills);
  expect(placed.value.map(({ folder }) => folder)).toEqual(skills.map((one) => storeFolder(places, one)));
  const aside = placed.value[3]?.aside ?? "";
  expect(readFileSync(join(aside, "SKILL.md"), "utf8")).toBe("not what it is called");
  expect(readdirSync(places.store).filter((name) => name.startsWith(".incoming"))).toEqual([]);
});

test("one that nobody can copy leaves what is in its place there", () => {
  const places = makePlaces();
  const skills = fetchAll(places);
  const mounted = nth(skills, 1);
  mountEach([mounted.folder]);
  const taken = storeFolder(places, mounted);
  writeTree(taken, { "SKILL.md": "not what it is called" });
  replaceCall("cpSync", () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  expect(() => placeAll(places, skills)).toThrow("ENOSPC");
  expect(readFileSync(join(taken, "SKILL.md"), "utf8")).toBe("not what it is called");
});

test("they count as placed now, also where a rename is no change of what is renamed", () => {
  const places = makePlaces();
  const skills = fetchAll(places);
  const old = new Date(Date.now() - 2 * GARBAGE_AGE_MS);
  for (const { folder } of skills) utimesSync(folder, old, old);
  expect(placeAll(places, skills)).toMatchObject({ ok: true });
  for (const one of skills)
    expect(statSync(storeFolder(places, one)).mtimeMs).toBeGreaterThan(old.getTime() + GARBAGE_AGE_MS);
  expect(collectGarbage(places).removed).toEqual([]);
});

test("a link in the place of one is not opened, and keeps all of them out", () => {
  const places = makePlaces();
  const skills = fetchAll(places);
  const { folder } = nth(skills, 1);
  const elsewhere = join(temporaryFolder(), "closed");
  mkdirSync(elsewhere);
  chmodSync(elsewhere, 0o500);
  rmSync(folder, { recursive: true });
  symlinkSync(elsewhere, folder);
  expect(placeAll(places, skills).ok).toBe(false);
  expect(statSync(elsewhere).mode & 0o777).toBe(0o500);
  expect(existsSync(storeFolder(places, nth(skills, 0)))).toBe(false);
});
