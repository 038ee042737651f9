/** What several processes share: a database, an object store and one master key; and what a start refuses. */
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { runObjectStore, type TestObjectStore } from "../../../test/support/object-store.ts";
import { describeWithPostgres, newDatabase, type TestDatabase } from "../../../test/support/postgres.ts";
import { openShared } from "../src/postgres.ts";
import { forAllTenants, forTenant } from "../src/tenant-scope.ts";
import { newPlace } from "./contract/use-stores.ts";
import { required } from "./support/sqlite.ts";

const SECRET = { tenant: "acme", purpose: "secret/TOKEN" };
const newKey = () => randomBytes(32).toString("hex");

describeWithPostgres("processes on one database", () => {
  let store: TestObjectStore;
  beforeAll(async () => {
    store = await runObjectStore();
    return store.stop;
  });

  const openWith = async (
    { url, adminUrl }: TestDatabase,
    METIER_MASTER_KEY: string | undefined,
    objectStore = store.address,
  ) => {
    const environment = { ...store.environment, ...(METIER_MASTER_KEY && { METIER_MASTER_KEY }) };
    const opened = await openShared({ databaseUrl: url, adminUrl, objectStore, environment });
    if (opened.ok) onTestFinished(opened.value.close);
    return opened;
  };

  test("restore each other's snapshots and open each other's secrets, and agree on the key of a new tenant", async () => {
    const database = await newDatabase();
    const key = newKey();
    const [here, there] = [required(await openWith(database, key)), required(await openWith(database, key))];
    const keys = await Promise.all([here, there, here, there].map((process) => process.keys.of("acme")));
    expect(new Set(keys.map(({ newest }) => newest)).size).toBe(1);
    const folder = newPlace();
    writeFileSync(join(folder, "file"), "content");
    const taken = required(await here.snapshots.take(folder, { tenant: "acme" }));
    const restored = join(newPlace(), "x");
    await there.snapshots.restore(taken, restored, { tenant: "acme" });
    expect(readFileSync(join(restored, "file"), "utf8")).toBe("content");
    // What is young stays, whoever thinks that nobody needs it.
    expect(await there.snapshots.collect([])).toBe(0);
    const sealed = (await here.keys.of("acme")).seal(SECRET, "swordfish");
    expect(required((await there.keys.of("acme")).unseal(SECRET, sealed))).toBe("swordfish");
    const place = { tenant: "acme", kind: "tenant-key", id: "key" };
    expect(await forTenant("other", () => here.records.get(place))).toBeUndefined();
    expect(await forTenant("acme", () => here.records.get(place))).toBeDefined();
    expect(await here.snapshots.clear("acme")).toBe(2);
    expect(await here.keys.destroy("acme")).toBe(true);
    expect((await here.keys.of("acme")).unseal(SECRET, sealed).ok).toBe(false);
  });

  test("do not start without a master key, with another one, or with a store that is not there", async () => {
    const database = await newDatabase();
    const key = newKey();
    expect(await openWith(database, undefined)).toMatchObject({
      ok: false,
      refusal: {
        message: expect.stringContaining("METIER_MASTER_KEY"),
        hint: expect.stringContaining("openssl"),
      },
    });
    const first = required(await openWith(database, key));
    await first.keys.of("acme");
    expect(await openWith(database, newKey())).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining("is wrong") },
    });
    const elsewhere = store.address.replace("metier-test", "not-there");
    expect(await openWith(database, key, elsewhere)).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining("no bucket `not-there`") },
    });
    expect(await openWith(database, key, "s3://x")).toMatchObject({ ok: false });
  });

  test("go on with a new master key, which seals the keys of tenants anew", async () => {
    const database = await newDatabase();
    const [old, young] = [newKey(), newKey()];
    const before = required(await openWith(database, old));
    const sealed = (await before.keys.of("acme")).seal(SECRET, "swordfish");
    required(await openWith(database, `${young},${old}`));
    const after = required(await openWith(database, young));
    expect(required((await after.keys.of("acme")).unseal(SECRET, sealed))).toBe("swordfish");
    expect(await openWith(database, old)).toMatchObject({ ok: false });
    const stored = await forAllTenants(() => after.records.listAll("tenant-key"));
    expect(stored).toHaveLength(1);
  });
});
