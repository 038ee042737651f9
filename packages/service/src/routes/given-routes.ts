/** Skills of the server that the platform's admins gave to other tenants. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { tableShape } from "@metier/base/shape";
import { forTenant } from "@metier/durable";
import { boundedText, listOf, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";
import type { ServedGift } from "../shelf/skill-shelf.ts";
import { refuseUnknownTenant, requireActive } from "../tenants/resolve-tenant.ts";

const GROUP = "tenants";
const giftSchema = objectOf({
  name: TEXT_FIELD,
  description: TEXT_FIELD,
  trust: { enum: ["trusted", "untrusted"] },
  digest: TEXT_FIELD,
  givenAt: TIME_FIELD,
});

interface GiftBody {
  readonly name: string;
}

function showGift({ name, description, trust, digest, givenAt }: ServedGift): JsonObject {
  return { name, description, trust, digest, givenAt: new Date(givenAt).toISOString() };
}

/** Its id. The tenant whose server it is has all of them. */
async function findReceiver(
  { tenants }: ServiceContext,
  named: string,
  isNew: boolean,
): Promise<Result<string, HttpRefusal>> {
  const tenant = await tenants.find(named);
  if (tenant?.id === DEFAULT_TENANT) {
    const message = `The tenant \`${DEFAULT_TENANT}\` already has every skill of the server.`;
    return refuse(409, "tenant_has_all", message, "Name another tenant. `GET /v1/tenants` lists them.");
  }
  if (tenant === undefined) return refuseUnknownTenant(named);
  const active = isNew ? requireActive(tenant, named) : done(tenant);
  return active.ok ? done(active.value.id) : active;
}

const giveSkill = defineRoute<Record<never, never>, GiftBody>({
  method: "POST",
  path: "/v1/tenants/{id}/skills",
  scope: "platform",
  group: GROUP,
  summary: "Give a skill of the server to a tenant. Repeat to give it the skill's current content.",
  body: tableShape<GiftBody>({ name: boundedText(200, 1) }, ["name"]),
  answers: { 201: { about: "The given skill.", schema: giftSchema } },
  async handle({ body: { name }, identity, param }, context) {
    const tenant = await findReceiver(context, param("id"), true);
    if (!tenant.ok) return tenant;
    const given = await forTenant(tenant.value, () =>
      context.shelf.give(tenant.value, name, identity.actor ?? identity.keyId),
    );
    if (!given.ok) return given;
    context.notices.tell({ kind: "catalog", tenant: tenant.value });
    return replyWith(showGift(given.value), 201);
  },
});

const listGiven = defineRoute({
  method: "GET",
  path: "/v1/tenants/{id}/skills",
  scope: "platform",
  group: GROUP,
  summary: "List the server's skills that a tenant was given.",
  answers: { 200: { about: "All given skills.", schema: listOf(giftSchema) } },
  async handle({ param }, context) {
    const tenant = await findReceiver(context, param("id"), false);
    if (!tenant.ok) return tenant;
    const given = await forTenant(tenant.value, () => context.shelf.given(tenant.value));
    return replyWith({ data: given.map(showGift) });
  },
});

const takeSkillBack = defineRoute({
  method: "DELETE",
  path: "/v1/tenants/{id}/skills/{name}",
  scope: "platform",
  group: GROUP,
  summary: "Take a skill of the server back from a tenant. Runs waiting on it will not resume.",
  answers: { 200: { about: "The skill taken back.", schema: objectOf({ name: TEXT_FIELD }) } },
  async handle({ identity, param }, context) {
    const tenant = await findReceiver(context, param("id"), false);
    if (!tenant.ok) return tenant;
    const name = param("name");
    const wasThere = await forTenant(tenant.value, () =>
      context.shelf.takeBack(tenant.value, name, identity.actor ?? identity.keyId),
    );
    if (!wasThere) {
      const hint = "`GET /v1/tenants/{id}/skills` lists the skills it was given.";
      return refuse(404, "not_found", "The tenant was not given this skill.", hint);
    }
    context.notices.tell({ kind: "catalog", tenant: tenant.value });
    return replyWith({ name });
  },
});

export const GIVEN_ROUTES: readonly ServiceRoute[] = [giveSkill, listGiven, takeSkillBack];
