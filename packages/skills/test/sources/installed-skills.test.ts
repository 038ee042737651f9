/** From some number of skills on, the store is listed instead of asking about each: nobody can tell by what is found. */
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { metierPlaces, type Places } from "@metier/base/places";
import { expect, test } from "vitest";
import { fillStore, lockEntry, record } from "../../../../test/support/locks.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { skill } from "../../../../test/support/world.ts";
import {
  type LockEntry,
  lockedFolder,
  projectLockFile,
  storeFolder,
  userLockFile,
} from "../../src/lock/lock.ts";
import { findInstalled, type InstalledSkills } from "../../src/sources/installed-skills.ts";

/** Fewer are asked about one by one. */
const LISTED = 16;

interface Machine {
  readonly places: Places;
  readonly project: string;
  readonly entries: readonly LockEntry[];
}

/** Skills in the store, in the order of a lock. */
function makeMachine(): Machine {
  const root = temporaryFolder();
  const places = metierPlaces(join(root, "home"));
  const project = join(root, "project");
  mkdirSync(project);
  const entries = Array.from({ length: LISTED }, (_, number) => {
    const name = `skill-${10 + number}`;
    return lockEntry(name, { digest: fillStore(places, name, { "SKILL.md": skill(name) }) });
  });
  return { places, project, entries };
}

function find({ places, project }: Machine): Promise<InstalledSkills> {
  return findInstalled({ places, project: { folders: [project], root: project, foreign: [] } });
}

type Change = (machine: Machine, folder: string) => Partial<LockEntry> | undefined;

/** What somebody did to the first skill, or to the store. */
const CHANGES: readonly (readonly [what: string, change: Change])[] = [
  ["nothing is unusual", () => undefined],
  [
    "the store is behind a link",
    ({ places }) => {
      renameSync(places.store, `${places.base}-elsewhere`);
      symlinkSync(`${places.base}-elsewhere`, places.store);
      return undefined;
    },
  ],
  [
    "a skill's folder is a link",
    ({ places }, folder) => {
      renameSync(folder, join(places.base, "moved"));
      symlinkSync(join("..", "moved"), folder);
      return undefined;
    },
  ],
  [
    "a skill's folder is a link to nothing",
    (_, folder) => {
      rmSync(folder, { recursive: true });
      symlinkSync("nothing", folder);
      return undefined;
    },
  ],
  ["a skill's folder is missing", (_, folder) => void rmSync(folder, { recursive: true })],
  [
    "a skill's folder is a file",
    (_, folder) => {
      rmSync(folder, { recursive: true });
      writeFileSync(folder, "");
      return undefined;
    },
  ],
  ["the store is missing", ({ places }) => void rmSync(places.store, { recursive: true })],
  [
    "the store is a file",
    ({ places }) => {
      rmSync(places.store, { recursive: true });
      writeFileSync(places.store, "");
      return undefined;
    },
  ],
  [
    "a skill is used in place, through a link",
    ({ places }) => {
      writeTree(join(places.home, "real"), { "SKILL.md": skill("skill-10") });
      symlinkSync("real", join(places.home, "mine"));
      const resolved = join(places.home, "mine");
      return { kind: "folder", source: resolved, resolved, path: "", linked: true };
    },
  ],
];

test.each(CHANGES)("as many skills as are listed together are found as fewer are: %s", async (_, change) => {
  const machine = makeMachine();
  const { places, entries } = machine;
  const [first, ...others] = entries;
  if (first === undefined) throw new Error("There is no skill.");
  const changed = { ...first, ...change(machine, storeFolder(places, first)) };
  const lock = userLockFile(places);
  record(lock, changed, ...others.slice(0, LISTED - 2));
  const few = await find(machine);
  expect(few.realPaths.size).toBe(0);
  // With one more, which is as usual or as missing as the others.
  record(lock, ...others);
  const all = await find(machine);
  const last = lockedFolder(places, lock, others.at(-1) ?? first);
  const isThere = existsSync(last);
  expect(all.skills.filter(({ folder }) => folder !== last)).toEqual(few.skills);
  expect(all.skills.length - few.skills.length).toBe(Number(isThere));
  expect(all.copies).toEqual(few.copies);
  const codes = ({ diagnostics }: InstalledSkills): readonly unknown[] =>
    diagnostics.map(({ code, path, severity }) => [code, path, severity]);
  expect(codes(all)).toEqual(codes(few));
  if (isThere) expect(all.diagnostics).toEqual(few.diagnostics);
  for (const [path, real] of all.realPaths) expect([path, real]).toEqual([path, realpathSync(path)]);
});

test("a project's lock that alone has many skills finds what the user's lock finds", async () => {
  const machine = makeMachine();
  const { places, project, entries } = machine;
  const lock = projectLockFile(project);
  const [first, second] = entries;
  if (first === undefined || second === undefined) throw new Error("There is no skill.");
  rmSync(storeFolder(places, first), { recursive: true });
  record(userLockFile(places), second);
  record(lock, ...entries);
  const { skills, diagnostics, realPaths } = await find(machine);
  expect(diagnostics).toMatchObject([{ code: "lock.missing-folder", path: lock.path }]);
  expect(skills.map(({ folder, isOfProject }) => [basename(folder), isOfProject])).toEqual([
    [basename(storeFolder(places, second)), false],
    ...entries.slice(1).map((entry) => [basename(storeFolder(places, entry)), true]),
  ]);
  expect(realPaths.size).toBe(LISTED - 1);
});
