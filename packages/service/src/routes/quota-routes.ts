/** Quotas: what a tenant and its users may use, and their usage. */
import { presentFields } from "@metier/base/json";
import { mapShape, tableShape } from "@metier/base/shape";
import { forTenant } from "@metier/durable";
import type { ApiQuotaLimits, ApiQuotas } from "../api-operate.ts";
import { NUMBER_FIELD, objectOf } from "../http/query-shapes.ts";
import { refuseRequest } from "../http/refusal.ts";
import { defineRoute, type RouteOutcome, replyWith, type ServiceRoute } from "../http/route.ts";
import type { Identity } from "../keys/identity.ts";
import { holdsScope } from "../keys/scopes.ts";
import { countUsed } from "../quotas/count-used.ts";
import { limitEngine } from "../quotas/hold-to-quotas.ts";
import {
  limitsShape,
  type QuotasForUsers,
  readQuotas,
  writeTenantQuotas,
  writeUserQuotas,
} from "../quotas/quota-store.ts";
import type { ServiceContext } from "../service-context.ts";
import { findNamedTenant } from "../tenants/resolve-tenant.ts";

const GROUP = "quotas";
const MOST_USERS = 10_000;
const MOST_USER_ID = 256;

const limitFields = {
  concurrentRuns: NUMBER_FIELD,
  openRuns: NUMBER_FIELD,
  startsPerMinute: NUMBER_FIELD,
  tokensPerDay: NUMBER_FIELD,
  costPerDay: NUMBER_FIELD,
  storageBytes: NUMBER_FIELD,
};
const limitsSchema = objectOf(limitFields, []);
const quotasSchema = objectOf({
  tenant: limitsSchema,
  eachUser: limitsSchema,
  users: { type: "object", additionalProperties: limitsSchema },
  used: objectOf(limitFields),
});
const answers = { 200: { about: "Each limit and its current usage.", schema: quotasSchema } };

/** Non-admins only see themselves among single users. */
async function showQuotas(
  context: ServiceContext,
  tenant: string,
  { scopes, userId }: Pick<Identity, "scopes" | "userId">,
): Promise<RouteOutcome> {
  const { users, ...quotas } = await readQuotas(context.records, tenant);
  const isSeen = (user: string): boolean => holdsScope(scopes, "admin") || user === userId;
  const seen = Object.fromEntries(Object.entries(users).filter(([user]) => isSeen(user)));
  const shown: ApiQuotas = { ...quotas, users: seen, used: await countUsed(context, tenant) };
  return replyWith(shown);
}

const readOwnQuotas = defineRoute({
  method: "GET",
  path: "/v1/quotas",
  scope: "read",
  group: GROUP,
  summary: "Get the quotas of your tenant and its users, with current usage.",
  answers,
  handle: ({ identity }, context) => showQuotas(context, identity.tenant, identity),
});

const writeOwnQuotas = defineRoute<Record<never, never>, Partial<QuotasForUsers>>({
  method: "PUT",
  path: "/v1/quotas",
  scope: "admin",
  group: GROUP,
  summary: "Set the quota of each user of your tenant, and exceptions for single users.",
  body: tableShape<Partial<QuotasForUsers>>({ eachUser: limitsShape, users: mapShape(limitsShape) }),
  answers,
  async handle({ body: { eachUser = {}, users = {} }, identity }, context) {
    const wrong = refuseUsers({ eachUser, users });
    if (wrong) return wrong;
    const { records, engine } = context;
    const { tenant } = identity;
    await writeUserQuotas(records, identity, { eachUser, users });
    await limitEngine(engine, tenant, await readQuotas(records, tenant));
    return showQuotas(context, tenant, identity);
  },
});

function refuseUsers({ eachUser, users }: QuotasForUsers): RouteOutcome | undefined {
  const names = Object.keys(users);
  if (names.length > MOST_USERS || names.some((name) => name === "" || name.length > MOST_USER_ID)) {
    return refuseRequest(
      `\`users\` has more than ${MOST_USERS} entries, or a user id that is empty or longer than ${MOST_USER_ID} characters.`,
      "Use `eachUser` as the default and list only the exceptions.",
    );
  }
  const all: readonly ApiQuotaLimits[] = [eachUser, ...Object.values(users)];
  if (all.some(({ storageBytes }) => storageBytes !== undefined)) {
    return refuseRequest(
      "`storageBytes` is not counted per user.",
      "Set it for the tenant, or leave it out.",
    );
  }
  if (Object.values(users).some(({ concurrentRuns }) => concurrentRuns !== undefined)) {
    return refuseRequest(
      "`concurrentRuns` must be the same for every user.",
      "Set it in `eachUser`, or leave it out.",
    );
  }
  return undefined;
}

const readTenantQuotas = defineRoute({
  method: "GET",
  path: "/v1/tenants/{id}/quotas",
  scope: "platform",
  group: GROUP,
  summary: "Get a tenant's quotas and current usage.",
  answers,
  async handle({ identity, param }, context) {
    const tenant = await findNamedTenant(context, param("id"));
    if (!tenant.ok) return tenant;
    return forTenant(tenant.value, () => showQuotas(context, tenant.value, identity));
  },
});

const putTenantQuotas = defineRoute<Record<never, never>, ApiQuotaLimits>({
  method: "PUT",
  path: "/v1/tenants/{id}/quotas",
  scope: "platform",
  group: GROUP,
  summary: "Set a tenant's quotas as a whole. A quota you leave out is unlimited.",
  body: limitsShape,
  answers,
  async handle({ body, identity, param }, context) {
    const { records, engine } = context;
    const found = await findNamedTenant(context, param("id"));
    if (!found.ok) return found;
    const tenant = found.value;
    return forTenant(tenant, async () => {
      await writeTenantQuotas(records, { ...identity, tenant }, presentFields({ ...body }));
      await limitEngine(engine, tenant, await readQuotas(records, tenant));
      return showQuotas(context, tenant, identity);
    });
  },
});

export const QUOTA_ROUTES: readonly ServiceRoute[] = [
  readOwnQuotas,
  writeOwnQuotas,
  readTenantQuotas,
  putTenantQuotas,
];
