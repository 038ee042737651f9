/** Tenants: the platform's admins create, list and delete them. Everything else belongs to one, by the caller's key. */
import { readShape, tableShape } from "@metier/base/shape";
import type { ApiTenant } from "../api-operate.ts";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { objectOf, plainName, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import { beginDeletion } from "../tenants/deletion.ts";
import { refuseUnknownTenant } from "../tenants/resolve-tenant.ts";
import { isReservedName, type Tenant } from "../tenants/tenant-store.ts";

const GROUP = "tenants";
const tenantSchema = objectOf({
  id: TEXT_FIELD,
  name: TEXT_FIELD,
  createdAt: TIME_FIELD,
  status: { enum: ["active", "deleting"] },
});

interface TenantBody {
  readonly name: string;
}

function showTenant({ id, name, createdAt, status }: Tenant): ApiTenant {
  return { id, name, createdAt: new Date(createdAt).toISOString(), status };
}

const createTenant = defineRoute<Record<never, never>, TenantBody>({
  method: "POST",
  path: "/v1/tenants",
  scope: "platform",
  group: GROUP,
  summary:
    "Create a tenant. Then create its first key with `POST /v1/keys`, passing its id or name as `tenant`.",
  body: tableShape<TenantBody>({ name: plainName }, ["name"]),
  answers: { 201: { about: "The tenant.", schema: tenantSchema } },
  async handle({ body: { name }, identity }, { tenants }) {
    if (isReservedName(name)) {
      const message = `\`${name}\` is reserved and cannot name a tenant.`;
      return refuse(422, "name_reserved", message, "Choose another name that does not start with `t_`.");
    }
    const tenant = await tenants.create(name, identity);
    if (tenant !== undefined) return replyWith(showTenant(tenant), 201);
    const message = `A tenant called \`${name}\` already exists, ignoring case.`;
    return refuse(409, "tenant_exists", message, "Choose another name. `GET /v1/tenants` lists all tenants.");
  },
});

const listTenants = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/tenants",
  scope: "platform",
  group: GROUP,
  summary: "List tenants, oldest first.",
  query: pageShape,
  answers: pageAnswer("tenants", tenantSchema),
  handle: ({ query }, { tenants }) =>
    replyPage(query, {
      read: (page) => tenants.list(page),
      cursor: ({ id }) => id,
      show: (tenant) => ({ ...showTenant(tenant) }),
    }),
});

const readTenant = defineRoute({
  method: "GET",
  path: "/v1/tenants/{id}",
  scope: "platform",
  group: GROUP,
  summary: "Get a tenant by its id or name.",
  answers: { 200: { about: "The tenant.", schema: tenantSchema } },
  async handle({ param }, { tenants }) {
    const tenant = await tenants.find(param("id"));
    return tenant === undefined ? refuseUnknownTenant(param("id")) : replyWith(showTenant(tenant));
  },
});

const deleteTenant = defineRoute({
  method: "DELETE",
  path: "/v1/tenants/{id}",
  scope: "platform",
  group: GROUP,
  summary:
    "Delete a tenant and everything it has. Its keys stop working immediately; ending its runs may take a while.",
  answers: {
    200: { about: "It is gone." },
    202: { about: "The tenant is being deleted; repeat the request to check.", schema: tenantSchema },
  },
  async handle({ identity, param }, context) {
    const tenant = readShape(plainName, param("id")).ok ? await context.tenants.find(param("id")) : undefined;
    if (tenant === undefined) return refuseUnknownTenant(param("id"));
    if (tenant.id === DEFAULT_TENANT) {
      const message = `The tenant \`${DEFAULT_TENANT}\` cannot be deleted: the admins of the whole service belong to it.`;
      return refuse(409, "tenant_needed", message, "Delete its runs, sessions and keys instead.");
    }
    const isGone = await beginDeletion(context, { tenant: tenant.id }, identity);
    return isGone
      ? replyWith({ id: tenant.id, status: "deleted" })
      : replyWith(showTenant({ ...tenant, status: "deleting" }), 202);
  },
});

export const TENANT_ROUTES: readonly ServiceRoute[] = [createTenant, listTenants, readTenant, deleteTenant];
