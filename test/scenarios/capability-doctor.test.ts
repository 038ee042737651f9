import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createNotesWorld } from "../support/notes-bridge.ts";
import { createWorld } from "../support/world.ts";

test("doctor tells of providers, of the vault and of the accounts of the user", async () => {
  const world = createNotesWorld();
  await world.cli("capability", "auth", "begin", "notes.web");
  const url = "http://127.0.0.1:1/callback?code=good&state=s1";
  await world.cli("capability", "auth", "complete", "--callback-url", url);
  const { json } = await world.cli("doctor", "--json");
  expect(json.capabilities).toEqual({
    providers: [expect.objectContaining({ name: "notes", origin: "config", kind: "bridge" })],
    vault: { folder: join(world.home, ".metier/vault"), key: "file" },
    accounts: [
      { capability: "notes.web", accountRef: "acc-2", accountName: "Web", createdAt: expect.any(String) },
    ],
  });
  const { stdout } = await world.cli("doctor");
  expect(stdout).toContain("\nCapabilities\n  provider notes (config, bridge, ");
  expect(stdout).toContain("): notes.diary, notes.pad, notes.web\n");
  expect(stdout).toContain("its key is in key.json, which only you can read\n");
  expect(stdout).toContain("  account of notes.web: acc-2, Web, since ");
});

test("doctor says what is wrong and how to mend it, and says nothing where nothing is configured", async () => {
  const world = createNotesWorld();
  const vault = join(world.home, ".metier/vault");
  world.write({
    "home/.metier/config.toml": '[capabilities.providers.lost]\ncommand = ["no-such-program-here"]\n',
    "home/.metier/vault/key.json": "{}",
  });
  chmodSync(vault, 0o700);
  chmodSync(join(vault, "key.json"), 0o644);
  const { code, stdout } = await world.cli("doctor");
  expect(code).toBe(0);
  expect(stdout).toMatch(/provider lost \(config, bridge, no-such-program-here\): unusable\. .+\n +→ /);
  expect(stdout).toContain("vault: unusable.");
  expect(stdout).toContain(`chmod 600 '${join(vault, "key.json")}'`);
  expect((await createWorld().cli("doctor")).stdout).not.toContain("Capabilities");
});

test("a damaged file of accounts is told to its user, who can still use the rest", async () => {
  const world = createNotesWorld();
  await world.cli("capability", "auth", "begin", "notes.web");
  const url = "http://127.0.0.1:1/callback?code=good&state=s1";
  await world.cli("capability", "auth", "complete", "--callback-url", url);
  const [user = ""] = readdirSync(join(world.home, ".metier/state/capabilities/accounts"));
  const folder = join(world.home, ".metier/state/capabilities/accounts", user, "notes.web");
  for (const file of readdirSync(folder)) writeFileSync(join(folder, file), "no json");
  const { stdout } = await world.cli("doctor");
  expect(stdout).toMatch(/accounts: unusable\. .*is damaged/);
  const other = `not-${userInfo().username}`;
  expect((await world.cli("capability", "list", "--user", other)).code).toBe(0);
  expect((await world.cli("capability", "invoke", "notes.pad", "list")).code).toBe(0);
});
