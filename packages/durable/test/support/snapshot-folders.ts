/** Folders that snapshots are taken of, and what the tests of snapshots look at. */
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { BlobStore } from "../../src/snapshot-store.ts";
import type { TenantKeys } from "../../src/snapshots.ts";
import { type KeyPlaces, newKeyPlaces, openKeysIn } from "./tenant-keys.ts";

export const ACME = { tenant: "acme" };

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "metier-snapshot-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Everything that a snapshot keeps, as text. */
export function describeFolder(folder: string | Buffer): readonly string[] {
  return readdirSync(folder, { encoding: "buffer" })
    .flatMap((name) => {
      const path = Buffer.concat([Buffer.from(folder), Buffer.from("/"), name]);
      const stats = lstatSync(path);
      const shown = name.toString("latin1");
      if (stats.isSymbolicLink()) return `${shown} -> ${readlinkSync(path, "latin1")}`;
      const mode = (stats.mode & 0o777).toString(8);
      if (stats.isDirectory())
        return [`${shown}/ ${mode}`, ...describeFolder(path).map((line) => `  ${line}`)];
      return `${shown} ${mode} ${Math.round(stats.mtimeMs)} ${readFileSync(path, "latin1")}`;
    })
    .toSorted();
}

/** Counts what is asked of it. */
export function watched(blobs: BlobStore): BlobStore & { readonly put: BlobStore["put"]; puts: number } {
  const counted = {
    ...blobs,
    puts: 0,
    async put(name: string, bytes: Uint8Array) {
      counted.puts += 1;
      await blobs.put(name, bytes);
    },
  };
  return counted;
}

export function openKeys(places: KeyPlaces = newKeyPlaces()): TenantKeys {
  return openKeysIn(places);
}
