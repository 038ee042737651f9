/** Snapshots in a folder keep the contract; and what is special about folders that programs fill, and about that folder. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSnapshotStore } from "../src/snapshots/create-snapshot-store.ts";
import { openFolderBlobs } from "../src/snapshots/folder-blobs.ts";
import { openPlain } from "../src/snapshots/walk-folder.ts";
import { describeSnapshots } from "./contract/snapshot-contract.ts";
import { describeSharedSnapshots } from "./contract/snapshot-sharing-contract.ts";
import { namesOf } from "./support/blobs.ts";
import { required } from "./support/sqlite.ts";
import { newKeyPlaces, openKeysIn } from "./support/tenant-keys.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "metier-blobs-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describeSnapshots("in a folder", () => openFolderBlobs(newFolder()));
describeSharedSnapshots("in a folder", () => openFolderBlobs(newFolder()));

test("blobs are files that only their owner can read, and leave nothing else behind", async () => {
  const folder = newFolder();
  const blobs = openFolderBlobs(folder);
  const name = `${"a".repeat(16)}/${"b".repeat(64)}`;
  await Promise.all([blobs.put(name, Buffer.from("x")), blobs.put(name, Buffer.from("x"))]);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  expect(files).toHaveLength(1);
  for (const { parentPath, name: file } of files) {
    expect(statSync(join(parentPath, file)).mode & 0o777).toBe(0o600);
    expect(statSync(parentPath).mode & 0o777).toBe(0o700);
  }
  expect(await namesOf(blobs, "aaaa")).toEqual([name]);
  expect(await namesOf(blobs, "b")).toEqual([]);
  await blobs.delete(name);
  expect([await blobs.storedAt(name), await blobs.get(name)]).toEqual([undefined, undefined]);
});

test("a name that is no blob's becomes no path", async () => {
  const blobs = openFolderBlobs(newFolder());
  for (const name of ["../x", "", "a/b", `${"a".repeat(16)}/../${"b".repeat(61)}`]) {
    await expect((async () => blobs.get(name))()).rejects.toThrow("not a blob name");
  }
});

test("pipes and sockets are passed over without waiting for anyone", async () => {
  const folder = newFolder();
  execFileSync("mkfifo", [join(folder, "pipe")]);
  writeFileSync(join(folder, "file"), "x");
  const keys = openKeysIn(newKeyPlaces());
  const snapshots = createSnapshotStore({ blobs: openFolderBlobs(newFolder()), keys });
  const taken = required(await snapshots.take(folder, { tenant: "acme" }));
  await snapshots.restore(taken, folder, { tenant: "acme" });
  expect(readdirSync(folder)).toEqual(["file"]);
});

test("a folder that a link has replaced is not read", () => {
  const [folder, elsewhere] = [newFolder(), newFolder()];
  writeFileSync(join(elsewhere, "secret"), "x");
  symlinkSync(elsewhere, join(folder, "swapped"));
  mkdirSync(join(folder, "plain"));
  expect(openPlain(folder, "swapped/secret").ok).toBe(false);
  expect(openPlain(folder, "swapped").ok).toBe(false);
  expect(openPlain(folder, "plain/none").ok).toBe(false);
});
