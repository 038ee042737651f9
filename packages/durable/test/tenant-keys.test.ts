/** Each tenant has a key of its own, which processes agree on, a new master key leaves alone, and which can be destroyed. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { holdToKey } from "../src/keys/hold-to-key.ts";
import type { BlobStore } from "../src/snapshot-store.ts";
import { createSnapshotStore, openMasterKey, openTenantKeys, rotateMasterKey } from "../src/snapshots.ts";
import { openSqliteStore } from "../src/sqlite.ts";
import { newPlace } from "./contract/use-stores.ts";
import { required } from "./support/sqlite.ts";
import { newKeyPlaces, openKeysIn } from "./support/tenant-keys.ts";

const SECRET = { tenant: "acme", purpose: "secret/TOKEN" };

test("a sealed text opens for its tenant alone, whoever asks with the keys of another", async () => {
  const keys = openKeysIn(newKeyPlaces());
  const [acme, other] = [await keys.of("acme"), await keys.of("other")];
  expect(acme.newest).not.toBe(other.newest);
  const sealed = acme.seal(SECRET, "swordfish");
  expect(required(acme.unseal(SECRET, sealed))).toBe("swordfish");
  expect(acme.unseal({ ...SECRET, tenant: "other" }, sealed).ok).toBe(false);
  expect(other.unseal(SECRET, sealed).ok).toBe(false);
  expect(other.unseal({ ...SECRET, tenant: "other" }, sealed).ok).toBe(false);
});

test("processes that ask for the key of a new tenant at the same time agree on one", async () => {
  const places = newKeyPlaces();
  const processes = Array.from({ length: 4 }, () => openKeysIn(places));
  const asked = processes.flatMap((keys) => Array.from({ length: 5 }, () => keys.of("acme")));
  const ids = (await Promise.all(asked)).map(({ newest }) => newest);
  expect(new Set(ids).size).toBe(1);
});

test("a key is nowhere in the clear, and each tenant's is another one", async () => {
  const places = newKeyPlaces();
  const { records, close } = required(openSqliteStore({ file: places.recordFile }));
  onTestFinished(close);
  const keys = openKeysIn(places);
  await keys.of("acme");
  await keys.of("other");
  const stored = await records.listAll("tenant-key");
  expect(stored.map(({ tenant }) => tenant)).toEqual(["acme", "other"]);
  const [one, two] = stored.map(({ body }) => String(body.sealed));
  expect(one).toMatch(/^metier1\.[0-9a-f]{16}\./);
  expect(one).not.toBe(two);
  // Moved to another tenant, it opens nothing.
  const [acme] = stored;
  await records.put({ tenant: "thief", kind: "tenant-key", id: "key" }, acme?.body ?? {}, 0);
  await expect(keys.of("thief")).rejects.toThrow("cannot be opened");
});

test("a destroyed key opens nothing, here at once and in another process once it has looked again", async () => {
  const places = newKeyPlaces();
  let now = 1_000_000;
  const [here, there] = [openKeysIn(places), openKeysIn(places, () => now)];
  const sealed = (await here.of("acme")).seal(SECRET, "swordfish");
  expect((await there.of("acme")).unseal(SECRET, sealed).ok).toBe(true);
  await here.destroy("acme");
  expect((await here.of("acme")).unseal(SECRET, sealed).ok).toBe(false);
  now += 61_000;
  expect((await there.of("acme")).unseal(SECRET, sealed).ok).toBe(false);
});

test("a new master key seals the keys anew and changes nothing under them; a process without it goes on with what it knows", async () => {
  const { recordFile } = newKeyPlaces();
  const { records, close } = required(openSqliteStore({ file: recordFile }));
  onTestFinished(close);
  const [one, two] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  let now = 0;
  const open = (value: string) => {
    const file = join(newPlace(), "none");
    const master = required(openMasterKey({ environment: { METIER_MASTER_KEY: value }, file }));
    const keys = openTenantKeys({ records, master, now: () => now });
    return { master, keys, hold: () => holdToKey(records, master, keys) };
  };
  const old = open(one);
  required(await old.hold());
  const sealed = (await old.keys.of("acme")).seal(SECRET, "swordfish");
  const rotated = open(`${two},${one}`);
  required(await rotated.hold());
  // The old master key is not needed any more.
  const alone = open(two);
  required(await alone.hold());
  expect(required((await alone.keys.of("acme")).unseal(SECRET, sealed))).toBe("swordfish");
  now += 61_000;
  expect(required((await old.keys.of("acme")).unseal(SECRET, sealed))).toBe("swordfish");
  await expect(open(one).keys.of("acme")).rejects.toThrow("METIER_MASTER_KEY");
  expect(await open(one).hold()).toMatchObject({ ok: false });
});

test("starts at the same time with different new keys: one of them is refused", async () => {
  const { recordFile } = newKeyPlaces();
  const { records, close } = required(openSqliteStore({ file: recordFile }));
  onTestFinished(close);
  const held = await Promise.all(
    [1, 2].map(() => {
      const environment = { METIER_MASTER_KEY: randomBytes(32).toString("hex") };
      const master = required(openMasterKey({ environment, file: join(newPlace(), "none") }));
      return holdToKey(records, master, openTenantKeys({ records, master }));
    }),
  );
  expect(held.map(({ ok }) => ok).toSorted()).toEqual([false, true]);
});

test("the file of a rotated master key is read again by processes that run", async () => {
  const places = newKeyPlaces();
  const before = openKeysIn(places);
  const sealed = (await before.of("acme")).seal(SECRET, "swordfish");
  required(rotateMasterKey({ environment: {}, file: places.keyFile }));
  const after = openKeysIn(places);
  expect(await after.rewrap()).toBe(1);
  expect(required((await after.of("acme")).unseal(SECRET, sealed))).toBe("swordfish");
  expect(required((await before.of("acme")).unseal(SECRET, sealed))).toBe("swordfish");
});

/** Written by the version before tenants had keys, with the master key `abab…`. */
const OLD = {
  name: "0eb20dceb10328d6/20b5df068d367d6e0af3da35e3e03ef48e66f26febfe88619949a893f985941b",
  blobs: {
    "0eb20dceb10328d6/2015c53e29f69bc53a43dc79bf905084b3a829058cda5a22706e7a2f5171c02d":
      "TVRSMU9A2rb7-79gSDdbQP_oTIoVtJtIeYxKk5qpm9MAmvwF7DI1sRVURDmswfsp3R7JNHI",
    "0eb20dceb10328d6/20b5df068d367d6e0af3da35e3e03ef48e66f26febfe88619949a893f985941b":
      "TVRSMU9A2rb7-79gCo4xPg68YfeWI3qromfTXFFcXq-x1rSWtYRS-sTKMNCK1yfKYDaU5ZlmihyO7f1_UrWLJSkeDR7w6oA8bYB8Olf0jFNWgedtWpqC7ez2SH3KvwmYJKLQ1O-uW96RbpzaRFif2OtNOQ6nChJzZzeqnbnVfArJGMYj7kmtVbGMO4EzNWATi3HVJVxSnsRaBNsqP9RvhgxmQrPR01c12cOAefFIEBiqyS4gYYg7fZORqRRLWwN4v3yB0PhnTs8oELgctJoPI1NeEU7tiCho4c6pOTdu1Nhk7baLoJdWrrHv4TpDLGwTzHPkFK6SKoxmCKI",
  },
  secret: "metier1.4f40dab6fbfbbf60.z9FNNmFPMNJ_wvQOp2w2Ai-amVsA-LvIQX3Y_uSI3UpL9xBmKz2rMMk",
} as const;

test("what an older version wrote under the master key opens as it did", async () => {
  const { recordFile } = newKeyPlaces();
  const { records, close } = required(openSqliteStore({ file: recordFile }));
  onTestFinished(close);
  const environment = { METIER_MASTER_KEY: "ab".repeat(32) };
  const master = required(openMasterKey({ environment, file: join(newPlace(), "none") }));
  const keys = openTenantKeys({ records, master });
  expect(required((await keys.of("acme")).unseal(SECRET, OLD.secret))).toBe("an old secret");
  const stored = new Map(
    Object.entries(OLD.blobs).map(([name, text]) => [name, Buffer.from(text, "base64url")]),
  );
  const blobs: BlobStore = {
    storedAt: async (name) => (stored.has(name) ? 0 : undefined),
    put: async (name, bytes) => void stored.set(name, Buffer.from(bytes)),
    get: async (name) => stored.get(name),
    delete: async (name) => void stored.delete(name),
    async *entries(prefix) {
      for (const [name, { length: bytes }] of stored)
        if (name.startsWith(prefix)) yield { name, bytes, storedAt: 0 };
    },
  };
  const folder = join(newPlace(), "restored");
  const snapshots = createSnapshotStore({ blobs, keys });
  await snapshots.restore(OLD.name, folder, { tenant: "acme" });
  expect(readFileSync(join(folder, "note.txt"), "utf8")).toBe("kept by an older version\n");
  expect(await snapshots.collect([{ tenant: "acme", name: OLD.name }])).toBe(0);
});
