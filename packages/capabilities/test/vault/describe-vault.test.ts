import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import type { Keychain } from "../../src/vault/keychain.ts";
import { describeVault, openVault } from "../../src/vault/open-vault.ts";

function memoryKeychain(): Keychain {
  const entries = new Map<string, string>();
  return {
    name: "memory",
    find: async (account) => entries.get(account),
    async store(account, secret) {
      entries.set(account, secret);
    },
    async remove(account) {
      entries.delete(account);
    },
  };
}

test("a vault that was never used is described without making it", () => {
  const folder = join(temporaryFolder(), "vault");
  expect(describeVault({ folder })).toEqual({ folder, key: "none" });
  expect(describeVault({ folder, keychain: memoryKeychain() })).toEqual({
    folder,
    key: "none",
    keychain: "memory",
  });
  expect(existsSync(folder)).toBe(false);
});

test("says where the key is", async () => {
  const folder = join(temporaryFolder(), "vault");
  await openVault({ folder }).open("gog", "u1").put({ token: "secret" });
  expect(describeVault({ folder })).toEqual({ folder, key: "file" });
  const keychain = memoryKeychain();
  const other = join(temporaryFolder(), "vault");
  await openVault({ folder: other, keychain }).open("gog", "u1").put({ token: "secret" });
  expect(describeVault({ folder: other, keychain })).toEqual({
    folder: other,
    key: "keychain",
    keychain: "memory",
  });
});

test("a folder or a key that others can reach is told, with the command that mends it", async () => {
  const folder = join(temporaryFolder(), "vault");
  await openVault({ folder }).open("gog", "u1").put({ token: "secret" });
  chmodSync(folder, 0o755);
  expect(describeVault({ folder })).toMatchObject({
    key: "file",
    fault: { hint: `Run \`chmod 700 '${folder}'\`.` },
  });
  chmodSync(folder, 0o700);
  chmodSync(join(folder, "key.json"), 0o640);
  expect(describeVault({ folder }).fault?.hint).toBe(`Run \`chmod 600 '${join(folder, "key.json")}'\`.`);
});
