/** Data folders of users who are deleted. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "@metier/base/files";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { ownerOf } from "../../src/invoke/invocation.ts";
import { forgetTenantData, forgetUserData } from "../../src/run/forget-data.ts";

const TENANT = "t_0123456789abcdef";
const OTHER = "t_0123456789abcdee";

function fill() {
  const root = temporaryFolder();
  const places = { data: join(root, "data"), state: join(root, "state") };
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

test("where nothing was kept, nothing happens", () => {
  const root = temporaryFolder();
  forgetTenantData({ data: join(root, "data"), state: join(root, "state") }, TENANT);
  expect(existsSync(join(root, "data"))).toBe(false);
});
