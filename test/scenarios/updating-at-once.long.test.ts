/** Several updates at the same time, and ones that are killed: every skill is wholly old or wholly new. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeOf, expectWhole, killAt, startCli } from "../support/install-processes.ts";
import { createInstallWorld, type InstallWorld, resultOf, skillFiles } from "../support/installing.ts";
import { verifies } from "../support/verifies.ts";

const MANY = 30;

function manySkills(body: string): Record<string, string> {
  const names = Array.from({ length: MANY }, (_, index) => `skill-${index}`);
  return Object.assign({}, ...names.map((name) => skillFiles(`skills/${name}`, name, body)));
}

async function outdated(more: object = {}): Promise<{ world: InstallWorld; old: ReadonlySet<string> }> {
  const world = createInstallWorld();
  const repository = world.repository(manySkills("one"));
  const metier = await world.metier();
  resultOf(await metier.install({ source: repository.url, skills: ["*"], ...more }));
  const old = new Set(world.lock().skills.map(({ digest }) => digest));
  repository.commit(manySkills("two"));
  return { world, old };
}

const listed = (folder: string): number => (existsSync(folder) ? readdirSync(folder).length : 0);

test("updates at the same time all end well", async () => {
  const { world, old } = await outdated();
  const codes = await Promise.all([1, 2, 3].map(() => codeOf(startCli(world, "update", "--yes"))));
  expect(codes).toEqual([0, 0, 0]);
  expect(world.lock().skills.filter(({ digest }) => old.has(digest))).toEqual([]);
  expectWhole(world);
  expect((await (await world.metier()).verify()).ok).toBe(true);
});

test.each([
  ["while it is fetched", (world: InstallWorld) => listed(world.places.quarantine) > 0],
  ["when the first new version is in the store", (world: InstallWorld) => world.stored().length > MANY],
  ["when half of them are", (world: InstallWorld) => world.stored().length > 1.5 * MANY],
  [
    "when the lock is replaced",
    (world: InstallWorld) => readFileSync(world.places.lockFile, "utf8").includes("previous"),
  ],
] as const)(
  "an update that is killed %s leaves all old or all new, and a rerun ends it",
  async (_, moment) => {
    const { world, old } = await outdated();
    await killAt(startCli(world, "update", "--yes"), () => moment(world));
    const left = world.lock().skills.filter(({ digest }) => old.has(digest)).length;
    expect([0, MANY]).toContain(left);
    expectWhole(world);
    const metier = await world.metier();
    expect(await metier.verify()).toMatchObject({ ok: true });
    expect(await metier.update({ yes: true })).toMatchObject({ ok: true });
    expect(world.lock().skills.filter(({ digest }) => old.has(digest))).toEqual([]);
    expect(world.quarantined()).toEqual([]);
  },
);

verifies(
  191,
  "copies for other clients that a killed update left behind are brought up to date",
  async () => {
    const { world } = await outdated({ agents: ["agent-harness"] });
    await killAt(startCli(world, "update", "--yes"), () =>
      readFileSync(world.places.lockFile, "utf8").includes("previous"),
    );
    const metier = await world.metier();
    resultOf(await metier.install({}));
    expect(await metier.verify()).toMatchObject({ ok: true });
    const copy = readFileSync(join(world.home, ".agent/skills/skill-29/SKILL.md"), "utf8");
    expect(copy).toContain("two");
  },
);
