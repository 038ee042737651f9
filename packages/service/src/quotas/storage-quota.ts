/** How much a tenant may store, for whatever stores something for it: snapshots of work folders and uploaded skills. */
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
  const message = `There is no room for it: your tenant would store ${wanted} bytes, and ${most} are allowed.`;
  return refuse(413, "storage_full", message, "Remove what is not needed; an admin can raise the quota.");
}
