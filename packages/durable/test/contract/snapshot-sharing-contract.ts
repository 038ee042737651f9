/** What every snapshot store does with the keys of tenants, and beside other processes on the same blobs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BlobStore } from "../../src/snapshot-store.ts";
import { createSnapshotStore } from "../../src/snapshots/create-snapshot-store.ts";
import { openMasterKey, rotateMasterKey } from "../../src/snapshots.ts";
import { namesOf } from "../support/blobs.ts";
import { ACME, describeFolder, newFolder, openKeys, watched } from "../support/snapshot-folders.ts";
import { required } from "../support/sqlite.ts";
import { newKeyPlaces } from "../support/tenant-keys.ts";

export function describeSharedSnapshots(name: string, openBlobs: () => BlobStore | Promise<BlobStore>): void {
  describe(`shared snapshots ${name}`, () => {
    test("stay as they are when the master key is rotated: only the keys of tenants are sealed anew", async () => {
      const [folder, places] = [newFolder(), newKeyPlaces()];
      writeFileSync(join(folder, "file"), "content");
      const blobs = watched(await openBlobs());
      const old = createSnapshotStore({ blobs, keys: openKeys(places) });
      const before = required(await old.take(folder, ACME));
      const puts = blobs.puts;
      required(rotateMasterKey({ environment: {}, file: places.keyFile }));
      const keys = openKeys(places);
      expect([await keys.rewrap(), await keys.rewrap()]).toEqual([1, 0]);
      const rotated = createSnapshotStore({ blobs, keys });
      expect(required(await rotated.take(folder, ACME))).toBe(before);
      expect(blobs.puts).toBe(puts);
      for (const snapshots of [old, rotated]) {
        const restored = join(newFolder(), "x");
        await snapshots.restore(before, restored, ACME);
        expect(describeFolder(restored)).toEqual(describeFolder(folder));
      }
      const other = createSnapshotStore({ blobs, keys: openKeys() });
      await expect(other.restore(before, join(newFolder(), "x"), ACME)).rejects.toThrow("key");
    });

    test("that were taken before tenants had keys are restored, counted and kept", async () => {
      const [folder, places] = [newFolder(), newKeyPlaces()];
      writeFileSync(join(folder, "file"), "content");
      const blobs = await openBlobs();
      const master = required(openMasterKey({ environment: {}, file: places.keyFile }));
      const old = createSnapshotStore({ blobs, keys: { of: async () => master } });
      const before = required(await old.take(folder, ACME));
      const snapshots = createSnapshotStore({ blobs, keys: openKeys(places) });
      const restored = join(newFolder(), "x");
      await snapshots.restore(before, restored, ACME);
      expect(describeFolder(restored)).toEqual(describeFolder(folder));
      expect(await snapshots.bytes("acme")).toBeGreaterThan(0);
      expect(await snapshots.collect([{ ...ACME, name: before }])).toBe(0);
      const after = required(await snapshots.take(folder, ACME));
      expect(after).not.toBe(before);
      expect(await snapshots.collect([{ ...ACME, name: after }])).toBe(2);
      expect(await snapshots.clear("acme")).toBe(2);
      expect(await namesOf(blobs)).toEqual([]);
    });

    test("of a tenant whose key was destroyed can be read by nobody, and are removed with the rest", async () => {
      const [folder, places] = [newFolder(), newKeyPlaces()];
      writeFileSync(join(folder, "file"), "content");
      const blobs = await openBlobs();
      const keys = openKeys(places);
      const snapshots = createSnapshotStore({ blobs, keys });
      const mine = required(await snapshots.take(folder, ACME));
      const theirs = required(await snapshots.take(folder, { tenant: "other" }));
      expect([await keys.destroy("acme"), await keys.destroy("acme")]).toEqual([true, false]);
      await expect(snapshots.restore(mine, newFolder(), ACME)).rejects.toThrow("cannot be restored");
      expect(await snapshots.collect([{ tenant: "other", name: theirs }])).toBe(2);
      await snapshots.restore(theirs, join(newFolder(), "x"), { tenant: "other" });
    });

    test("of several processes: nobody removes what is young, or what a new snapshot counts on", async () => {
      const [folder, places, shared] = [newFolder(), newKeyPlaces(), await openBlobs()];
      const graceMs = 3_600_000;
      /** As it looks after this time; nothing else than the clock of the store differs. */
      const laterBy = (ms: number): BlobStore => ({
        ...shared,
        storedAt: async (blob) => {
          const at = await shared.storedAt(blob);
          return at === undefined || renewed.has(blob) ? at : at - ms;
        },
        put: async (blob, bytes) => {
          renewed.add(blob);
          await shared.put(blob, bytes);
        },
        async *entries(prefix) {
          for await (const blob of shared.entries(prefix))
            yield renewed.has(blob.name) ? blob : { ...blob, storedAt: blob.storedAt - ms };
        },
      });
      const renewed = new Set<string>();
      const open = (blobs: BlobStore) => createSnapshotStore({ blobs, keys: openKeys(places), graceMs });
      writeFileSync(join(folder, "file"), "content");
      const taken = required(await open(shared).take(folder, ACME));
      expect(await open(shared).collect([])).toBe(0);
      // Two hours later nobody needs it, until somebody takes the same again.
      const later = laterBy(2 * graceMs);
      expect(required(await open(later).take(folder, ACME))).toBe(taken);
      expect(renewed.size).toBe(2);
      expect(await open(later).collect([])).toBe(0);
      await open(shared).restore(taken, join(newFolder(), "x"), ACME);
      renewed.clear();
      expect(await open(later).collect([])).toBe(2);
    });

    test("of a tenant stay where one of them cannot be read; those of others are removed", async () => {
      const [folder, blobs, keys] = [newFolder(), await openBlobs(), openKeys()];
      const snapshots = createSnapshotStore({ blobs, keys });
      writeFileSync(join(folder, "file"), "content");
      const mine = required(await snapshots.take(folder, ACME));
      required(await snapshots.take(folder, { tenant: "other" }));
      await blobs.delete(mine);
      expect(await snapshots.collect([{ ...ACME, name: mine }])).toBe(2);
      expect(await namesOf(blobs)).toHaveLength(1);
    });

    test("end where the quota of their tenant says so", async () => {
      const [folder, blobs] = [newFolder(), await openBlobs()];
      const storageOf = async (tenant: string) => (tenant === "acme" ? 1_000 : undefined);
      const snapshots = createSnapshotStore({ blobs, keys: openKeys(), storageOf });
      writeFileSync(join(folder, "file"), "0123456789".repeat(100));
      const full = await snapshots.take(folder, ACME);
      expect(full).toMatchObject({
        ok: false,
        refusal: { isFull: true, message: expect.stringContaining("1000") },
      });
      required(await snapshots.take(folder, { tenant: "other" }));
    });

    test("that are taken while somebody looks for what is needed stay, and so do those that nobody has noted yet", async () => {
      const [folder, blobs] = [newFolder(), await openBlobs()];
      const snapshots = createSnapshotStore({ blobs, keys: openKeys() });
      writeFileSync(join(folder, "file"), "content");
      const taking = snapshots.take(folder, ACME);
      expect(await snapshots.collect(async () => [])).toBe(0);
      await snapshots.restore(required(await taking), join(newFolder(), "x"), ACME);
    });
  });
}
