import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesBelow } from "../../../test/support/sign-in-world.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { openAccounts } from "../src/accounts.ts";
import type { ProviderAccount } from "../src/capability.ts";

function account(accountRef: string, createdAt = "2026-03-01T10:00:00.000Z"): ProviderAccount {
  return { accountRef, createdAt, credentialMaterial: { kept: "vlt_1" }, metadata: { account_name: "Ada" } };
}

verifies("case 120", "accounts are kept apart for each user and capability, oldest first", async () => {
  const folder = join(temporaryFolder(), "accounts");
  const accounts = openAccounts({ folder });
  await accounts.put("alice", "door.mail", account("b", "2026-03-02T10:00:00.000Z"));
  await accounts.put("alice", "door.mail", account("a"));
  await accounts.put("alice", "door.safe", account("c"));
  await accounts.put("bob", "door.mail", account("d"));
  const again = openAccounts({ folder });
  expect((await again.list("alice", "door.mail")).map(({ accountRef }) => accountRef)).toEqual(["a", "b"]);
  expect(await again.list("bob", "door.mail")).toEqual([account("d")]);
  expect(await again.list("carol", "door.mail")).toEqual([]);
});

test("an account is replaced by one of the same reference, and removed once", async () => {
  const accounts = openAccounts({ folder: join(temporaryFolder(), "accounts") });
  await accounts.put("alice", "door.mail", account("a"));
  const newer = { ...account("a"), accountEmail: "ada@example.com" };
  await accounts.put("alice", "door.mail", newer);
  expect(await accounts.list("alice", "door.mail")).toEqual([newer]);
  expect(await accounts.remove("bob", "door.mail", "a")).toBe(false);
  expect(await accounts.remove("alice", "door.mail", "a")).toBe(true);
  expect(await accounts.remove("alice", "door.mail", "a")).toBe(false);
  expect(await accounts.list("alice", "door.mail")).toEqual([]);
});

test("ids that look like paths, or like each other, stay inside and apart", async () => {
  const folder = join(temporaryFolder(), "accounts");
  const accounts = openAccounts({ folder });
  const users = [
    "../bob",
    "bob",
    "BOB",
    "b\u006fb/",
    "bob\u0000",
    "",
    "🙂".repeat(300),
    "\ud800",
    "\ud801",
    "\ufffd",
  ];
  for (const user of users) await accounts.put(user, "door.mail", account("../../x"));
  for (const user of users) expect((await accounts.list(user, "door.mail")).length).toBe(1);
  expect(filesBelow(folder).length).toBe(users.length);
  for (const file of filesBelow(folder)) expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a damaged file, or one of someone else, is told to its user and hinders no other", async () => {
  const folder = join(temporaryFolder(), "accounts");
  const accounts = openAccounts({ folder });
  await accounts.put("alice", "door.mail", account("a"));
  const [file = ""] = filesBelow(folder);
  await accounts.put("bob", "door.mail", account("a"));
  const ofBob = filesBelow(folder).find((path) => path !== file) ?? "";
  const foreign = JSON.stringify({ version: 1, user: "bob", capability: "door.mail", account: account("a") });
  for (const damage of ["", "null", "[]", '{"version":2}', '{"version":1,"account":{}}', foreign]) {
    writeFileSync(file, damage);
    await expect(accounts.list("alice", "door.mail")).rejects.toMatchObject({
      code: "capability.state",
      hint: expect.stringContaining(`rm '${file}'`) as unknown,
    });
    expect((await accounts.list("bob", "door.mail")).length).toBe(1);
  }
  expect(ofBob).not.toBe("");
  await accounts.put("alice", "door.mail", account("a"));
  expect((await accounts.list("alice", "door.mail")).length).toBe(1);
});
