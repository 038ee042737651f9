/**
 * How much a tenant may store, for everything that stores data for it: snapshots of work folders and uploaded skills.
 */
import { done, type Result } from "@metier/base/result";
import { forTenant, type RecordStore } from "@metier/durable";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { readQuotas } from "./quota-store.ts";

/** `undefined`: as much as any tenant may. */
export function findStorageQuota(tenant: string, records: RecordStore): Promise<number | undefined> {
  return forTenant(tenant, async () => (await readQuotas(records, tenant)).tenant.storageBytes);
}

/** Whether there is room for so many bytes more. `used` is asked only where there is a quota. */
export async function checkRoom(
  records: RecordStore,
  tenant: string,
  more: number,
  used: () => Promise<number>,
): Promise<Result<undefined, HttpRefusal>> {
  const most = await findStorageQuota(tenant, records);
  if (most === undefined) return done(undefined);
  const wanted = (await used()) + more;
  if (wanted <= most) return done(undefined);
  const message = `Not enough storage: your tenant would use ${wanted} bytes, but only ${most} are allowed.`;
  return refuse(
    413,
    "storage_full",
    message,
    "Delete what you do not need, or ask an admin to raise the quota.",
  );
}
