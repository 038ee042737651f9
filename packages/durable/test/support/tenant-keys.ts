/** Keys of tenants in a place of their own, which can be opened again as another process does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openMasterKey, openTenantKeys, type TenantKeys } from "../../src/snapshots.ts";
import { openSqliteStore } from "../../src/sqlite.ts";
import { required } from "./sqlite.ts";

export interface KeyPlaces {
  readonly keyFile: string;
  readonly recordFile: string;
}

export function newKeyPlaces(): KeyPlaces {
  const folder = mkdtempSync(join(tmpdir(), "metier-tenant-keys-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { keyFile: join(folder, "master-key.json"), recordFile: join(folder, "records.db") };
}

export function openKeysIn({ keyFile, recordFile }: KeyPlaces, now?: () => number): TenantKeys {
  const { records, close } = required(openSqliteStore({ file: recordFile }));
  onTestFinished(close);
  const master = required(openMasterKey({ environment: {}, file: keyFile }));
  return openTenantKeys({ records, master, ...(now && { now }) });
}
