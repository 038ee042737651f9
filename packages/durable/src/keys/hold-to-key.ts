/**
 * Whether the master key is the one that a folder was written with: a value that was sealed with it is kept beside the rest.
 * Without that, another key would be noticed only when a secret is missing or a work folder cannot be restored.
 */
import { done, type Result, refused } from "@metier/base/result";
import type { RecordStore } from "../record-store.ts";
import type { MasterKey } from "./master-key.ts";

const RECORD = { tenant: "", kind: "master-key", id: "check" };
const USE = { tenant: "", purpose: "master-key-check" };
const VALUE = "This was sealed with the master key of this folder.";

/** Keeps the value on the first start, and under the newest key once that has opened it. */
export async function holdToKey(records: RecordStore, keys: MasterKey): Promise<Result<undefined>> {
  const stored = await records.get(RECORD);
  const sealed = typeof stored?.body.sealed === "string" ? stored.body.sealed : undefined;
  if (sealed !== undefined && !keys.unseal(USE, sealed).ok) return refuseOther(keys.newest, keyOf(sealed));
  if (sealed === undefined || keyOf(sealed) !== keys.newest) {
    await records.put(RECORD, { sealed: keys.seal(USE, VALUE) }, stored?.revision ?? 0);
  }
  return done(undefined);
}

/** The id of the key, which says nothing about the key. */
function keyOf(sealed: string): string {
  return sealed.split(".")[1] ?? "";
}

function refuseOther(newest: string, expected: string): Result<never> {
  return refused({
    message: `The master key is another one: it has the id ${newest}, and what is stored was encrypted with the key ${expected}.`,
    hint: "Set METIER_MASTER_KEY to the key that was used before, or restore `master-key.json`. To change the key, set `METIER_MASTER_KEY=<new>,<old>`. To start anew without the stored secrets and runs, move the folder away.",
  });
}
