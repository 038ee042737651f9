/**
 * Deletes a user or tenant with everything they have. It takes as long as their runs take to end, so the deletion is
 * stored first, and every sweep, in any process, continues it until nothing is left. Each step can be repeated without
 * harm. The audit log stays, and leads to nobody anymore.
 */
import { createHash } from "node:crypto";
import { presentFields } from "@metier/base/json";
import { countShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, forTenant, type StoredRecord } from "@metier/durable";
import { type Actor, tellOf } from "../keys/audit-line.ts";
import { findRecords } from "../keys/find-records.ts";
import { SYSTEM_TENANT } from "../keys/identity.ts";
import { forgetUserQuotas } from "../quotas/quota-store.ts";
import { SCHEDULE_KIND } from "../schedules/schedule.ts";
import type { ServiceContext } from "../service-context.ts";
import { tellMachines } from "./forget-elsewhere.ts";
import { forgetRuns } from "./forget-runs.ts";

const KIND = "deletion";
/** A request that was admitted just before may still write something. */
const QUIET_MS = 2_000;

interface Deletion {
  readonly tenant: string;
  /** Absent: the whole tenant. */
  readonly userId?: string | undefined;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Who requested it, for the audit log. */
  readonly by: string;
  /** The tenant whose audit log records it. */
  readonly toldTo: string;
  readonly subject: string;
}

const deletionShape = recordShape<Deletion>(
  {
    tenant: textShape,
    userId: textShape,
    startedAt: countShape,
    by: textShape,
    toldTo: textShape,
    subject: textShape,
  },
  ["userId"],
);

type Owner = Pick<Deletion, "tenant" | "userId">;

/** Whether it is already done. When this returns, what is being deleted can no longer act. */
export async function beginDeletion(context: ServiceContext, owner: Owner, by: Actor): Promise<boolean> {
  const { tenant, userId } = owner;
  const subject = userId === undefined ? tenant : (await context.people.meet(tenant, userId)).pseudonym;
  const deletion: Deletion = {
    tenant,
    userId,
    startedAt: context.now(),
    by: by.actor ?? by.keyId,
    toldTo: by.tenant,
    subject,
  };
  const line = tellOf(by, userId === undefined ? "tenant.deleting" : "user.deleting", subject);
  const stored = await forAllTenants(async () => {
    const key = keyOf(owner);
    const begun = await context.records.put(key, presentFields({ ...deletion }), 0, line);
    return begun ?? (await context.records.get(key)); // Requested again, or twice at the same time.
  });
  return stored === undefined || (await goOn(context, stored));
}

/** Continues every deletion that has started and isn't done. */
export async function goOnDeleting(context: ServiceContext): Promise<void> {
  for (const stored of await forAllTenants(() => context.records.listAll(KIND))) {
    try {
      await goOn(context, stored);
    } catch (fault) {
      context.log.fault("deletion", fault); // The next sweep tries again; the others don't wait.
    }
  }
}

async function goOn(context: ServiceContext, stored: StoredRecord): Promise<boolean> {
  const deletion = fitShape(deletionShape, stored.body);
  if (deletion === undefined) return false;
  const { tenant, userId, toldTo, by, subject } = deletion;
  const isQuiet = context.now() - deletion.startedAt >= QUIET_MS;
  const isDone =
    userId === undefined
      ? await forgetTenant(context, tenant, isQuiet)
      : await forgetUser(context, tenant, userId, isQuiet);
  if (!isDone) return false;
  const action = userId === undefined ? "tenant.deleted" : "user.deleted";
  const line = tellOf({ tenant: toldTo, keyId: by }, action, subject);
  await forAllTenants(() => context.records.delete(stored, line));
  return true;
}

/**
 * First their keys and cookies, then anything that would start something new, then their runs, and last who they were.
 */
async function forgetUser(
  context: ServiceContext,
  tenant: string,
  userId: string,
  isQuiet: boolean,
): Promise<boolean> {
  const { people, keys, signIns } = context;
  await people.dismiss(tenant, userId);
  const keyIds = await keys.ofUser(tenant, userId);
  await signIns.forgetUser(tenant, userId, keyIds);
  for (const id of keyIds) await keys.forget(tenant, id);
  const isNoneLeft = await forTenant(tenant, async () => {
    await forgetRecords(context, tenant, userId);
    return forgetRuns(context, { tenant, userId });
  });
  if (!isNoneLeft || !isQuiet) return false;
  await context.forget.user(tenant, userId);
  await tellMachines(context, { tenant, userId });
  await forAllTenants(() => context.tidy());
  await people.forget(tenant, userId);
  return true;
}

/** Records that contain the user. */
async function forgetRecords({ records }: ServiceContext, tenant: string, userId: string): Promise<void> {
  const isOwn = ({ body }: StoredRecord): boolean => body.userId === userId;
  for (const schedule of await findRecords(records, { tenant, kind: SCHEDULE_KIND }, isOwn))
    await records.delete(schedule);
  for (const session of await findRecords(records, { tenant, kind: "session" }, isOwn)) {
    for (const turn of await findRecords(records, { tenant, kind: `turn/${session.id}` }))
      await records.delete(turn);
    await records.delete(session);
  }
  await forgetUserQuotas(records, tenant, userId);
}

/** Admits nothing new, then removes runs, then everything stored elsewhere, then all records. */
async function forgetTenant(context: ServiceContext, tenant: string, isQuiet: boolean): Promise<boolean> {
  const { tenants, records } = context;
  await tenants.close(tenant);
  const isNoneLeft = await forTenant(tenant, async () => {
    for (const schedule of await findRecords(records, { tenant, kind: SCHEDULE_KIND }))
      await records.delete(schedule);
    return forgetRuns(context, { tenant });
  });
  if (!isNoneLeft || !isQuiet) return false;
  await context.engine.limit(tenant, {});
  await forTenant(tenant, () => context.forget.tenant(tenant));
  await tellMachines(context, { tenant });
  await context.tenantKeys.destroy(tenant); // Anything left somewhere, even in a backup, must be unreadable.
  await forTenant(tenant, () => records.forgetTenant(tenant));
  await forAllTenants(() => context.tidy());
  await tenants.remove(tenant);
  return true;
}

function keyOf({ tenant, userId }: Owner) {
  const digest = userId === undefined ? "" : createHash("sha256").update(userId).digest("hex");
  return { tenant: SYSTEM_TENANT, kind: KIND, id: digest === "" ? tenant : `${tenant}/${digest}` };
}
