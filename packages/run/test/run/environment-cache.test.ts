import { existsSync, mkdirSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import {
  environmentFolder,
  keepEnvironment,
  makeBuildFolder,
  useEnvironment,
} from "../../src/run/packages/build-environment.ts";
import type { EnvironmentPlan } from "../../src/run/packages/environment-plan.ts";

const PLAN: EnvironmentPlan = {
  kind: "node",
  lock: "package-lock.json",
  packages: [{ name: "a" }],
  files: { "package.json": "{}", "package-lock.json": "{}" },
};

test("an environment is another one for another lock, manifest, kind or runtime", () => {
  const places = metierPlaces(temporaryFolder());
  const folders = [
    environmentFolder(places, PLAN, "node 22"),
    environmentFolder(places, PLAN, "node 24"),
    environmentFolder(places, { ...PLAN, kind: "python" }, "node 22"),
    environmentFolder(places, { ...PLAN, files: { ...PLAN.files, "package-lock.json": "{ }" } }, "node 22"),
    environmentFolder(places, { ...PLAN, files: { ...PLAN.files, "package.json": "{ }" } }, "node 22"),
  ];
  expect(new Set(folders).size).toBe(folders.length);
  expect(environmentFolder(places, { ...PLAN }, "node 22")).toBe(folders[0]);
});

test("what is built last does not replace what is in use", () => {
  const places = metierPlaces(temporaryFolder());
  const folder = environmentFolder(places, PLAN, "node 22");
  const [first, second] = [makeBuildFolder(places), makeBuildFolder(places)];
  writeTree(first, { "node_modules/a/index.js": "first" });
  writeTree(second, { "node_modules/a/index.js": "second", "node_modules/b/index.js": "" });
  expect(useEnvironment(folder)).toBe(false);
  keepEnvironment(join(first, "node_modules"), folder);
  keepEnvironment(join(second, "node_modules"), folder);
  expect(useEnvironment(folder)).toBe(true);
  expect(readdirSync(folder)).toEqual(["a"]);
});

test("what nobody used for long, and what a killed installation left, goes with the next installation", () => {
  const places = metierPlaces(temporaryFolder());
  const cache = join(places.cache, "environments");
  const old = new Date(Date.now() - 100 * 24 * 60 * 60_000);
  for (const name of ["used", "unused", "building-killed"]) {
    mkdirSync(join(cache, name), { recursive: true });
    utimesSync(join(cache, name), old, old);
  }
  useEnvironment(join(cache, "used"));
  const building = makeBuildFolder(places);
  expect(readdirSync(cache).sort()).toEqual([building.slice(cache.length + 1), "used"].sort());
  expect(existsSync(building) && statSync(building).mode & 0o777).toBe(0o700);
});
