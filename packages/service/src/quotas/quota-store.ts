/**
 * Stored quotas: of a tenant as a whole, set by the platform's admins, and of its users, set by its own admins. Two
 * records, so that neither can be written through the other; both are read together.
 */
import type { JsonObject } from "@metier/base/json";
import { fitShape, mapShape, recordShape, type Shape, tableShape, testedShape } from "@metier/base/shape";
import type { RecordStore, StoredRecord } from "@metier/durable";
import type { ApiQuotaLimits, ApiQuotas } from "../api-operate.ts";
import { type Actor, tellOf } from "../keys/audit-line.ts";

export const QUOTA_KIND = "quotas";
const OF_TENANT = "tenant";
const OF_USERS = "users";

/** For a tenant's users: each of them, and exceptions. */
export type QuotasForUsers = Pick<ApiQuotas, "eachUser" | "users">;

export type StoredQuotas = Omit<ApiQuotas, "used">;

function wholeFrom(least: number): Shape<number> {
  return testedShape(
    (value): value is number => Number.isSafeInteger(value) && Number(value) >= least,
    `a whole number of ${least} or more`,
  );
}

const amount = testedShape(
  (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "a number of 0 or more",
);

/** 0 allows nothing. For concurrent runs, it would make existing ones wait forever. */
export const limitsShape = tableShape<ApiQuotaLimits>({
  concurrentRuns: wholeFrom(1),
  openRuns: wholeFrom(0),
  startsPerMinute: wholeFrom(0),
  tokensPerDay: wholeFrom(0),
  costPerDay: amount,
  storageBytes: wholeFrom(0),
});

const usersShape = recordShape<QuotasForUsers>({ eachUser: limitsShape, users: mapShape(limitsShape) });

export async function readQuotas(records: RecordStore, tenant: string): Promise<StoredQuotas> {
  const stored = await records.list({ tenant, kind: QUOTA_KIND, limit: 2 });
  const bodyOf = (id: string): JsonObject | undefined => stored.find((record) => record.id === id)?.body;
  return {
    tenant: fitShape(limitsShape, bodyOf(OF_TENANT)) ?? {},
    ...(fitShape(usersShape, bodyOf(OF_USERS)) ?? { eachUser: {}, users: {} }),
  };
}

/** What applies to one user. */
export function limitsOfUser({ eachUser, users }: QuotasForUsers, userId: string): ApiQuotaLimits {
  return (Object.hasOwn(users, userId) ? users[userId] : undefined) ?? eachUser;
}

/** `by.tenant` is the tenant they are for: the change is in its own log. */
export function writeTenantQuotas(
  records: RecordStore,
  by: Actor,
  limits: ApiQuotaLimits,
): Promise<StoredRecord> {
  return write(records, by, OF_TENANT, { ...limits }, { ...limits });
}

/** Only the record has the names: people don't appear by name in the log. */
export function writeUserQuotas(
  records: RecordStore,
  by: Actor,
  quotas: QuotasForUsers,
): Promise<StoredRecord> {
  const body = { eachUser: { ...quotas.eachUser }, users: { ...quotas.users } };
  const detail = { eachUser: { ...quotas.eachUser }, users: Object.keys(quotas.users).length };
  return write(records, by, OF_USERS, body as unknown as JsonObject, detail);
}

/** For a user who is deleted. */
export async function forgetUserQuotas(records: RecordStore, tenant: string, userId: string): Promise<void> {
  for (;;) {
    const stored = await records.get({ tenant, kind: QUOTA_KIND, id: OF_USERS });
    const quotas = stored && fitShape(usersShape, stored.body);
    if (stored === undefined || quotas === undefined || !Object.hasOwn(quotas.users, userId)) return;
    const users = Object.entries(quotas.users).filter(([user]) => user !== userId);
    const body = { ...stored.body, users: Object.fromEntries(users) as unknown as JsonObject };
    if (await records.put(stored, body, stored.revision)) return;
  }
}

async function write(
  records: RecordStore,
  by: Actor,
  id: string,
  body: JsonObject,
  detail: JsonObject,
): Promise<StoredRecord> {
  const key = { tenant: by.tenant, kind: QUOTA_KIND, id };
  for (;;) {
    const before = await records.get(key);
    const line = tellOf(by, "quotas.changed", id, detail);
    const stored = await records.put(key, body, before?.revision ?? 0, line);
    if (stored !== undefined) return stored; // Otherwise someone else wrote them at the same time: the later one counts.
  }
}
