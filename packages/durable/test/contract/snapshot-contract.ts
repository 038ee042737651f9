/** What every snapshot store does, over whatever keeps its blobs. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { BlobStore } from "../../src/snapshot-store.ts";
import { createSnapshotStore } from "../../src/snapshots/create-snapshot-store.ts";
import { namesOf } from "../support/blobs.ts";
import { ACME, describeFolder, newFolder, openKeys, watched } from "../support/snapshot-folders.ts";
import { required } from "../support/sqlite.ts";

function fillFolder(folder: string): void {
  mkdirSync(join(folder, "empty"), { mode: 0o755 });
  mkdirSync(join(folder, "deep/er"), { recursive: true });
  writeFileSync(join(folder, "deep/er/script.sh"), "echo hi", { mode: 0o755 });
  writeFileSync(join(folder, "nothing"), "");
  writeFileSync(join(folder, "naïve \n name"), "strange");
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), "latin");
  writeFileSync(join(folder, "read-only"), "r", { mode: 0o400 });
  symlinkSync("deep/er/script.sh", join(folder, "inside"));
  symlinkSync("/etc/passwd", join(folder, "outside"));
  symlinkSync("deep", join(folder, "to-folder"));
  utimesSync(join(folder, "nothing"), 1_000_000.123, 1_000_000.123);
  chmodSync(join(folder, "deep"), 0o555);
  onTestFinished(() => chmodSync(join(folder, "deep"), 0o755));
}

export function describeSnapshots(name: string, openBlobs: () => BlobStore | Promise<BlobStore>): void {
  describe(`snapshots ${name}`, () => {
    test("restore a folder exactly: files, bytes in names, modes, times, links and empty folders", async () => {
      const [folder, other] = [newFolder(), newFolder()];
      fillFolder(folder);
      const snapshots = createSnapshotStore({ blobs: await openBlobs(), keys: openKeys() });
      const taken = required(await snapshots.take(folder, ACME));
      const restored = join(other, "new");
      await snapshots.restore(taken, restored, ACME);
      onTestFinished(() => chmodSync(join(restored, "deep"), 0o755));
      expect(describeFolder(restored)).toEqual(describeFolder(folder));
      expect(required(await snapshots.take(restored, ACME))).toBe(taken);
      await snapshots.restore(taken, restored, ACME);
      expect(describeFolder(restored)).toEqual(describeFolder(folder));
    });

    test("remove what is not in them, and write through no link that stands in the way", async () => {
      const [folder, elsewhere] = [newFolder(), newFolder()];
      mkdirSync(join(folder, "a"));
      writeFileSync(join(folder, "a/file"), "kept");
      const snapshots = createSnapshotStore({ blobs: await openBlobs(), keys: openKeys() });
      const taken = required(await snapshots.take(folder, ACME));
      const before = describeFolder(folder);
      rmSync(join(folder, "a"), { recursive: true });
      symlinkSync(elsewhere, join(folder, "a"));
      writeFileSync(join(folder, "more"), "new");
      writeFileSync(join(elsewhere, "file"), "not yours");
      await snapshots.restore(taken, folder, ACME);
      expect(describeFolder(folder)).toEqual(before);
      expect(readFileSync(join(elsewhere, "file"), "utf8")).toBe("not yours");
      const link = join(newFolder(), "link");
      symlinkSync(elsewhere, link);
      await expect(snapshots.restore(taken, link, ACME)).rejects.toThrow("not a folder");
      expect(readFileSync(join(elsewhere, "file"), "utf8")).toBe("not yours");
    });

    test("store only what is new", async () => {
      const folder = newFolder();
      for (const number of [1, 2, 3]) writeFileSync(join(folder, `file-${number}`), `content ${number}`);
      const blobs = watched(await openBlobs());
      const snapshots = createSnapshotStore({ blobs, keys: openKeys() });
      const first = required(await snapshots.take(folder, ACME));
      expect(blobs.puts).toBe(4);
      expect(required(await snapshots.take(folder, ACME))).toBe(first);
      expect(blobs.puts).toBe(4);
      writeFileSync(join(folder, "file-2"), "changed 2");
      expect(required(await snapshots.take(folder, ACME))).not.toBe(first);
      expect(blobs.puts).toBe(6);
    });

    test("do not read a file again that has not changed, once its stamp is old enough to be believed", async () => {
      const folder = newFolder();
      writeFileSync(join(folder, "file"), "content");
      const asked: string[] = [];
      const blobs = await openBlobs();
      const storedAt: BlobStore["storedAt"] = (blob) => {
        asked.push(blob);
        return blobs.storedAt(blob);
      };
      const snapshots = createSnapshotStore({ blobs: { ...blobs, storedAt }, keys: openKeys() });
      const take = async (): Promise<number> => {
        asked.length = 0;
        required(await snapshots.take(folder, ACME));
        return asked.length;
      };
      // What is asked for is the file, where it is read, and the manifest.
      expect([await take(), await take()]).toEqual([2, 2]);
      vi.spyOn(Date, "now").mockReturnValue(Date.now() + 10_000);
      onTestFinished(() => void vi.restoreAllMocks());
      expect([await take(), await take(), await take()]).toEqual([2, 1, 1]);
      utimesSync(join(folder, "file"), 5, 5);
      expect(await take()).toBe(2);
    });

    test("see a change that leaves size and time as they were", async () => {
      const folder = newFolder();
      const file = join(folder, "file");
      const snapshots = createSnapshotStore({ blobs: await openBlobs(), keys: openKeys() });
      writeFileSync(file, "one");
      utimesSync(file, 1, 1);
      const first = required(await snapshots.take(folder, ACME));
      writeFileSync(file, "two");
      utimesSync(file, 1, 1);
      const second = required(await snapshots.take(folder, ACME));
      expect(second).not.toBe(first);
      await snapshots.restore(second, folder, ACME);
      expect(readFileSync(file, "utf8")).toBe("two");
    });

    test("split a large file, of which an addition stores only the end", async () => {
      const folder = newFolder();
      const file = join(folder, "log");
      const content = Buffer.alloc(9_000_000, "0123456789abcdef\n");
      writeFileSync(file, content);
      const blobs = watched(await openBlobs());
      const snapshots = createSnapshotStore({ blobs, keys: openKeys() });
      required(await snapshots.take(folder, ACME));
      const before = blobs.puts;
      writeFileSync(file, Buffer.concat([content, Buffer.from("more")]));
      const taken = required(await snapshots.take(folder, ACME));
      expect(blobs.puts - before).toBe(2);
      const restored = newFolder();
      await snapshots.restore(taken, restored, ACME);
      expect(readFileSync(join(restored, "log")).equals(Buffer.concat([content, Buffer.from("more")]))).toBe(
        true,
      );
    });

    test("tell nothing of a content, and nothing of it to another tenant", async () => {
      const folder = newFolder();
      writeFileSync(join(folder, "canary-name"), "canary-secret-content");
      const blobs = await openBlobs();
      const snapshots = createSnapshotStore({ blobs, keys: openKeys() });
      const mine = required(await snapshots.take(folder, ACME));
      const names = new Set(await namesOf(blobs));
      const theirs = required(await snapshots.take(folder, { tenant: "other" }));
      expect((await namesOf(blobs)).filter((blob) => !names.has(blob))).toHaveLength(names.size);
      expect(theirs).not.toBe(mine);
      for (const blob of await namesOf(blobs)) {
        expect(Buffer.from((await blobs.get(blob)) ?? []).toString("latin1")).not.toContain("canary");
      }
      await expect(snapshots.restore(mine, newFolder(), { tenant: "other" })).rejects.toThrow(
        "cannot be restored",
      );
    });

    test("are not restored from a part that is missing, was changed, or stands in for another", async () => {
      const folder = newFolder();
      writeFileSync(join(folder, "file"), "content");
      const keys = openKeys();
      const blobs = await openBlobs();
      const taken = required(await createSnapshotStore({ blobs, keys }).take(folder, ACME));
      const [part = ""] = (await namesOf(blobs)).filter((blob) => blob !== taken);
      const own = Buffer.from((await blobs.get(part)) ?? []);
      const changed = Buffer.from(own);
      changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
      const manifest = Buffer.from((await blobs.get(taken)) ?? []);
      for (const bytes of [undefined, changed, manifest, own.subarray(0, 10)]) {
        const wrong: BlobStore = { ...blobs, get: async (blob) => (blob === part ? bytes : blobs.get(blob)) };
        const snapshots = createSnapshotStore({ blobs: wrong, keys });
        await expect(snapshots.restore(taken, join(newFolder(), "x"), ACME)).rejects.toThrow(
          "cannot be restored",
        );
      }
    });

    test("refuse a folder with too many files or bytes, before they read it", async () => {
      const folder = newFolder();
      for (const number of [1, 2, 3]) writeFileSync(join(folder, `file-${number}`), "12345");
      const blobs = watched(await openBlobs());
      const keys = openKeys();
      for (const bounds of [
        { maxEntries: 2, maxBytes: 1000 },
        { maxEntries: 10, maxBytes: 14 },
      ]) {
        const taken = await createSnapshotStore({ blobs, keys, bounds }).take(folder, ACME);
        expect(taken).toMatchObject({
          ok: false,
          refusal: { message: expect.stringContaining("more than") },
        });
      }
      expect(blobs.puts).toBe(0);
    });

    test("that nobody needs any more are removed, and those that are needed stay whole", async () => {
      const folder = newFolder();
      const blobs = await openBlobs();
      const snapshots = createSnapshotStore({ blobs, keys: openKeys() });
      writeFileSync(join(folder, "both"), "the same in both");
      writeFileSync(join(folder, "first"), "only in the first");
      const first = required(await snapshots.take(folder, ACME));
      rmSync(join(folder, "first"));
      writeFileSync(join(folder, "second"), "only in the second");
      const second = required(await snapshots.take(folder, ACME));
      const before = await namesOf(blobs);
      expect(await snapshots.collect([{ ...ACME, name: second }])).toBe(2);
      expect(await namesOf(blobs)).toHaveLength(before.length - 2);
      const restored = newFolder();
      await snapshots.restore(second, restored, ACME);
      expect(describeFolder(restored)).toEqual(describeFolder(folder));
      await expect(snapshots.restore(first, newFolder(), ACME)).rejects.toThrow(/missing/);
      // What is taken afterwards is stored again.
      writeFileSync(join(folder, "first"), "only in the first");
      const again = required(await snapshots.take(folder, ACME));
      await snapshots.restore(again, restored, ACME);
      expect(describeFolder(restored)).toEqual(describeFolder(folder));
    });

    test("keep the mode of the folder itself, and make one that is not there for its owner alone", async () => {
      const folder = newFolder();
      const snapshots = createSnapshotStore({ blobs: await openBlobs(), keys: openKeys() });
      const taken = required(await snapshots.take(folder, ACME));
      chmodSync(folder, 0o750);
      await snapshots.restore(taken, folder, ACME);
      expect(statSync(folder).mode & 0o777).toBe(0o750);
      const made = join(newFolder(), "a", "b");
      await snapshots.restore(taken, made, ACME);
      expect(existsSync(made) && statSync(made).mode & 0o777).toBe(0o700);
    });

    test("end where their tenant or their run has as much as is allowed, counted without looking at all again", async () => {
      const [folder, plain] = [newFolder(), await openBlobs()];
      let looks = 0;
      const blobs: BlobStore = {
        ...plain,
        entries(prefix) {
          if (prefix !== "") looks += 1;
          return plain.entries(prefix);
        },
      };
      const limits = { bytesPerTenant: 20_000, bytesPerRun: 12_000 };
      const keys = openKeys();
      const snapshots = createSnapshotStore({ blobs, keys, limits });
      const write = (content: string) => writeFileSync(join(folder, "file"), content.repeat(5_000));
      const take = (content: string, runId: string, tenant = "acme") => {
        write(content);
        return snapshots.take(folder, { tenant, runId });
      };
      const one = required(await take("1", "r1"));
      expect(required(await snapshots.take(folder, { tenant: "acme", runId: "r1" }))).toBe(one);
      required(await take("2", "r1"));
      const full = { ok: false, refusal: { isFull: true, hint: expect.stringContaining("--snapshots") } };
      const ofRun = await take("3", "r1");
      expect(ofRun).toMatchObject(full);
      expect(ofRun).toMatchObject({ refusal: { message: expect.stringMatching(/run `r1`.*12000/) } });
      const last = required(await take("3", "r2"));
      const ofTenant = await take("4", "r3");
      expect(ofTenant).toMatchObject(full);
      expect(ofTenant).toMatchObject({ refusal: { message: expect.stringMatching(/`acme`.*20000/) } });
      required(await take("4", "r3", "other"));
      // Of each tenant, what is under its own key and what is under the master key.
      expect(looks).toBe(4);
      // Another process finds what is there, and room again where something was removed.
      const later = createSnapshotStore({ blobs, keys, limits });
      write("5");
      expect(await later.take(folder, { tenant: "acme", runId: "r4" })).toMatchObject(full);
      await later.collect([{ tenant: "acme", name: last }]);
      required(await later.take(folder, { tenant: "acme", runId: "r4" }));
    });
  });
}
