/** Data folders of users who are deleted. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "@metier/base/files";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { createRunId, runFolder } from "../../src/events/run-log.ts";
import { ownerOf } from "../../src/invoke/invocation.ts";
import { forgetTenantData, forgetUserData } from "../../src/run/forget-data.ts";

const TENANT = "t_0123456789abcdef";
const OTHER = "t_0123456789abcdee";

function fill() {
  const root = temporaryFolder();
  const places = { data: join(root, "data"), state: join(root, "state"), runs: join(root, "runs") };
  const folderOf = (skill: string, userId: string, tenantId?: string): string =>
    join(places.data, skill, `user-${folderName(ownerOf({ userId, tenantId }) ?? "")}`);
  const people = [["ada"], ["bob"], ["ada", TENANT], ["bob", TENANT], ["ada", OTHER]] as const;
  const folders = people.flatMap(([user, tenant]) => [
    folderOf("a", user, tenant),
    folderOf("b", user, tenant),
  ]);
  const shared = [join(places.data, "a", "own"), join(places.data, "a", "global")];
  for (const folder of [...folders, ...shared]) mkdirSync(folder, { recursive: true });
  const left = (): number => [...folders, ...shared].filter((folder) => existsSync(folder)).length;
  return { places, folderOf, left };
}

test("a user's data goes in every skill, and nobody else's", () => {
  const { places, folderOf, left } = fill();
  forgetUserData(places, { userId: "ada", tenantId: TENANT });
  expect(existsSync(folderOf("a", "ada", TENANT))).toBe(false);
  expect(existsSync(folderOf("a", "ada"))).toBe(true);
  expect(left()).toBe(10);
  forgetUserData(places, { userId: "ada" });
  expect(left()).toBe(8);
});

test("a tenant's data goes with all of its users", () => {
  const { places, folderOf, left } = fill();
  forgetTenantData(places, TENANT);
  expect(existsSync(folderOf("b", "bob", TENANT))).toBe(false);
  expect(existsSync(folderOf("b", "ada", OTHER))).toBe(true);
  expect(left()).toBe(8);
});

test("the folders of a user's own runs go, as their logs say whose they are", () => {
  const { places } = fill();
  const idOf = (tenantId: string | undefined, userId: string): string => {
    const runId = createRunId();
    const { folder, log, work } = runFolder(places, runId);
    mkdirSync(work, { recursive: true });
    const head = { v: 1, runId, seq: 1, at: new Date().toISOString(), type: "run-started" };
    const about = { skill: "a", source: "user", location: "", trust: "trusted", model: "m", depth: 0 };
    const rest = { tools: [], workDir: work, cwd: work, env: [] };
    const said = { ...head, ...about, ...rest, tenantId, userId: ownerOf({ userId, tenantId }) };
    writeFileSync(log, `${JSON.stringify(said)}\n`);
    return folder;
  };
  const [hers, his, hersElsewhere] = [idOf(TENANT, "ada"), idOf(TENANT, "bob"), idOf(undefined, "ada")];
  const left = () => [hers, his, hersElsewhere].map((folder) => existsSync(folder));
  forgetUserData(places, { userId: "ada", tenantId: TENANT });
  expect(left()).toEqual([false, true, true]);
  forgetTenantData(places, TENANT);
  expect(left()).toEqual([false, false, true]);
});

test("where nothing was kept, nothing happens", () => {
  const root = temporaryFolder();
  const places = { data: join(root, "data"), state: join(root, "state"), runs: join(root, "runs") };
  forgetTenantData(places, TENANT);
  expect(existsSync(join(root, "data"))).toBe(false);
});
