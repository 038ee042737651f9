/** Several installations at the same time, and ones that are killed: what is installed is always whole. */
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { codeOf, expectWhole, startCli } from "../support/install-processes.ts";
import { createInstallWorld, type InstallWorld, skillFiles } from "../support/installing.ts";
import { until } from "../support/processes.ts";
import { verifies } from "../support/verifies.ts";

verifies(187, "installations at the same time lose nothing of each other", async () => {
  const world = createInstallWorld();
  const names = ["alpha", "beta", "gamma"];
  const repository = world.repository(
    Object.assign({}, ...names.map((name) => skillFiles(`skills/${name}`, name))),
  );
  const wishes = [...names, "alpha", "*"];
  const children = wishes.map((wish) => startCli(world, "install", repository.url, "--skill", wish));
  const codes = await Promise.all(children.map(codeOf));
  expect(codes).toEqual(wishes.map(() => 0));
  const last = await codeOf(startCli(world, "install", repository.url, "--all"));
  expect([last, world.lock().skills.map(({ name }) => name)]).toEqual([0, names]);
  expectWhole(world);
  expect(world.quarantined()).toEqual([]);
});

const MANY = 40;

function manySkills(body: string): Record<string, string> {
  const names = Array.from({ length: MANY }, (_, index) => `skill-${index}`);
  return Object.assign({}, ...names.map((name) => skillFiles(`skills/${name}`, name, body)));
}

const listed = (folder: string): number => (existsSync(folder) ? readdirSync(folder).length : 0);

test.each([
  ["while it is fetched", (world: InstallWorld) => listed(world.places.quarantine) > 0],
  ["when the first skill is in the store", (world: InstallWorld) => world.stored().length > 0],
  ["when half of them are", (world: InstallWorld) => world.stored().length >= MANY / 2],
  ["when the lock is there", (world: InstallWorld) => existsSync(world.places.lockFile)],
] as const)(
  "an installation that is killed %s leaves all or nothing, and a rerun cleans up",
  async (_, moment) => {
    const world = createInstallWorld();
    const repository = world.repository(manySkills("one"));
    const child = startCli(world, "install", repository.url, "--all");
    await until("the moment has come", () => child.exitCode !== null || moment(world));
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    expect([0, MANY]).toContain(world.lock().skills.length);
    expectWhole(world);
    const { code } = await world.cli("install", repository.url, "--all");
    expect([code, world.lock().skills.length, world.quarantined()]).toEqual([0, MANY, []]);
    expectWhole(world);
  },
);

test("a replacement that is killed leaves every skill old or new", async () => {
  const world = createInstallWorld();
  const repository = world.repository(manySkills("one"));
  await world.cli("install", repository.url, "--all");
  const before = world.lock();
  repository.commit(manySkills("two"));
  const child = startCli(world, "install", repository.url, "--all", "--force");
  await until("something new is in the store", () => child.exitCode !== null || world.stored().length > MANY);
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  const after = world.lock();
  const digests = new Set(before.skills.map(({ digest }) => digest));
  const old = after.skills.filter(({ digest }) => digests.has(digest)).length;
  expect([0, MANY]).toContain(old);
  expect(after.skills).toHaveLength(MANY);
  expectWhole(world);
});
