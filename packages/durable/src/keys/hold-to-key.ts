/**
 * Checks that the master key is the one a folder was written with: a value sealed with it is stored with the rest.
 * Otherwise a wrong key would only be noticed when a secret is missing or a work folder can't be restored.
 */
import { done, type Result, refused } from "@metier/base/result";
import type { RecordStore } from "../record-store.ts";
import { forAllTenants } from "../tenant-scope.ts";
import { type MasterKey, sealedUnder } from "./master-key.ts";
import type { TenantKeys } from "./tenant-keys.ts";

/** Of its record. */
export const CHECK_KIND = "master-key";
/** For what the value is sealed: for nobody in particular. */
export const CHECK_USE = { tenant: "", purpose: "master-key-check" };
const RECORD = { tenant: "@system", kind: CHECK_KIND, id: "check" };
/** Where versions before tenants kept it. */
const EARLIER = { ...RECORD, tenant: "" };
const VALUE = "This was sealed with the master key of this folder.";

/**
 * Stores the value on the first start. If there is a newer key, the tenants' keys are sealed with it, then the value: a
 * start that is killed in between does it again.
 */
export function holdToKey(
  records: RecordStore,
  keys: MasterKey,
  tenants: Pick<TenantKeys, "rewrap">,
): Promise<Result<undefined>> {
  return forAllTenants(() => hold(records, keys, tenants));
}

async function hold(
  records: RecordStore,
  keys: MasterKey,
  tenants: Pick<TenantKeys, "rewrap">,
): Promise<Result<undefined>> {
  const stored = await records.get(RECORD);
  const { body } = stored ?? (await records.get(EARLIER)) ?? { body: {} };
  const sealed = "sealed" in body && typeof body.sealed === "string" ? body.sealed : undefined;
  const under = sealed === undefined ? undefined : (sealedUnder(sealed) ?? "");
  if (sealed !== undefined && !keys.unseal(CHECK_USE, sealed).ok)
    return refuseOther(keys.newest, under ?? "");
  if (under !== keys.newest || stored === undefined) {
    if (under !== undefined) await tenants.rewrap();
    const value = { sealed: keys.seal(CHECK_USE, VALUE) };
    const isKept = await records.put(RECORD, value, stored?.revision ?? 0);
    // Another process has started at the same time, perhaps with another key.
    if (isKept === undefined) return hold(records, keys, tenants);
  }
  return done(undefined);
}

function refuseOther(newest: string, expected: string): Result<never> {
  return refused({
    message: `The master key is wrong: it has the id ${newest}, but the stored data was encrypted with key ${expected}.`,
    hint: "Set METIER_MASTER_KEY to the key that was used before, or restore `master-key.json`. To change the key, set `METIER_MASTER_KEY=<new>,<old>`. To start over without the stored secrets and runs, move the folder away.",
  });
}
