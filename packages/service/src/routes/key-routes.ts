/**
 * API keys: admins create, list and revoke those of their tenant; the platform's admins do it for all. A key's text is
 * shown once, when it is created.
 */
import { type JsonObject, presentFields } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, listShape, tableShape } from "@metier/base/shape";
import { showNames } from "@metier/base/text";
import type { ApiKey } from "../api-operate.ts";
import { type PageQuery, pageAnswer, pageFields, replyPage } from "../http/page.ts";
import { boundedText, objectOf, TEXT_FIELD, TIME_FIELD, timeText } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { type Identity, isPlatformAdmin } from "../keys/identity.ts";
import { isActing, type StoredKey } from "../keys/key-store.ts";
import {
  holdsScope,
  KEY_ROLES,
  KEY_SCOPES,
  type KeyRole,
  type KeyScope,
  ROLE_SCOPES,
} from "../keys/scopes.ts";
import { requireActive, resolveTenant } from "../tenants/resolve-tenant.ts";

const GROUP = "keys";
const keySchema = objectOf(
  {
    id: TEXT_FIELD,
    tenant: TEXT_FIELD,
    name: TEXT_FIELD,
    role: { enum: [...KEY_ROLES] },
    scopes: { type: "array", items: { enum: [...KEY_SCOPES] } },
    status: TEXT_FIELD,
    createdAt: TIME_FIELD,
    expiresAt: TIME_FIELD,
  },
  ["id", "tenant", "name", "scopes", "status", "createdAt"],
);

interface KeyBody {
  /** By its id or its name. */
  readonly tenant?: string;
  readonly name?: string;
  readonly role?: KeyRole;
  readonly scopes?: readonly KeyScope[];
  readonly expiresAt?: number;
  readonly userId?: string;
}

interface KeysQuery extends PageQuery {
  readonly tenant?: string;
}

function showKey(key: StoredKey, now: number): ApiKey {
  const time = (at: number | undefined): string | undefined =>
    at === undefined ? undefined : new Date(at).toISOString();
  const { id, tenant, name, role, scopes, userId, createdAt, expiresAt, revokedAt } = key;
  const status = isActing(key, now) ? "active" : revokedAt === undefined ? "expired" : "revoked";
  return {
    ...{ id, tenant, name, scopes: [...scopes], status, createdAt: new Date(createdAt).toISOString() },
    ...presentFields({ role, userId, expiresAt: time(expiresAt), revokedAt: time(revokedAt) }),
  };
}

/** A role stands for its scopes; with both, the scopes are some of the role's. Nobody can give more than they have. */
function readScopes(
  { role, scopes }: Pick<KeyBody, "role" | "scopes">,
  { scopes: held }: Identity,
): Result<readonly KeyScope[], HttpRefusal> {
  const granted = [...new Set(scopes ?? (role === undefined ? [] : ROLE_SCOPES[role]))];
  if (granted.length === 0) {
    return refuseRequest(
      "A key needs a `role`, a list of `scopes`, or both.",
      `Roles: ${KEY_ROLES.join(", ")}. Scopes: ${KEY_SCOPES.join(", ")}.`,
    );
  }
  const outside = role === undefined ? [] : granted.filter((scope) => !ROLE_SCOPES[role].includes(scope));
  if (outside.length > 0) {
    return refuseRequest(
      `The role \`${role}\` does not include the scopes ${showNames(outside)}.`,
      `It includes ${showNames(ROLE_SCOPES[role ?? "viewer"])}. Use some of these, or leave \`role\` out.`,
    );
  }
  const lacking = granted.filter((scope) => !holdsScope(held, scope));
  if (lacking.length === 0) return done(granted);
  const message = `This key cannot give the scopes ${showNames(lacking)}: it does not have them.`;
  return refuse(
    403,
    "scope_missing",
    message,
    "Give scopes that this key has, or use a key that has all of these.",
  );
}

const createKey = defineRoute<Record<never, never>, KeyBody>({
  method: "POST",
  path: "/v1/keys",
  scope: "admin",
  group: GROUP,
  summary:
    "Create an API key with a role, with scopes, or with some of a role's scopes. Only this response contains the key.",
  body: tableShape<KeyBody>({
    tenant: boundedText(128, 1),
    name: boundedText(100, 1),
    role: choiceShape(...KEY_ROLES),
    scopes: listShape(choiceShape(...KEY_SCOPES)),
    expiresAt: timeText,
    userId: boundedText(256, 1),
  }),
  answers: { 201: { about: "The key. Save `key`: it is not shown again.", schema: keySchema } },
  async handle({ body, identity }, context) {
    const { role, name = role ?? "unnamed", expiresAt, userId } = body;
    const scopes = readScopes(body, identity);
    if (!scopes.ok) return scopes;
    if (expiresAt !== undefined && expiresAt <= context.now()) {
      return refuseRequest("`expiresAt` is in the past.", "Give a time in the future, or leave it out.");
    }
    const tenant = await resolveTenant(context, identity, body.tenant);
    if (!tenant.ok) return tenant;
    const active = requireActive(await context.tenants.find(tenant.value), tenant.value);
    if (!active.ok) return active;
    if (userId !== undefined && (await context.people.find(tenant.value, userId))?.isLeaving) {
      const message = "This user is being deleted.";
      return refuse(409, "user_deleting", message, "Wait until the deletion is done, then try again.");
    }
    const made = await context.keys.create(
      { tenant: tenant.value, name, role, scopes: scopes.value, userId, expiresAt },
      identity.actor ?? identity.keyId,
    );
    return replyWith({ ...showKey(made.key, context.now()), key: made.text }, 201);
  },
});

const listKeys = defineRoute<KeysQuery>({
  method: "GET",
  path: "/v1/keys",
  scope: "admin",
  group: GROUP,
  summary:
    "List API keys without their secrets. Admins of the whole service can list another tenant's keys with `tenant`.",
  query: tableShape<KeysQuery>({ ...pageFields, tenant: boundedText(128, 1) }),
  answers: pageAnswer("keys", keySchema),
  async handle({ query: { tenant: named, ...page }, identity }, context) {
    const tenant = await resolveTenant(context, identity, named);
    if (!tenant.ok) return tenant;
    return replyPage(page, {
      read: (window) => context.keys.list(tenant.value, window),
      cursor: ({ id }) => id,
      show: (key) => ({ ...showKey(key, context.now()) }) as unknown as JsonObject,
    });
  },
});

const revokeKey = defineRoute({
  method: "DELETE",
  path: "/v1/keys/{id}",
  scope: "admin",
  group: GROUP,
  summary: "Revoke an API key immediately.",
  answers: { 200: { about: "The revoked key.", schema: keySchema } },
  async handle({ identity, param }, { keys, now, hasAdminKey }) {
    const found = await keys.find(param("id"));
    const isReached = found?.tenant === identity.tenant || isPlatformAdmin(identity);
    if (found === undefined || !isReached) return refuseMissing("key", param("id"), "/v1/keys");
    const admins = await keys.admins(now());
    if (!hasAdminKey && admins.length === 1 && admins[0]?.id === param("id")) {
      return refuse(
        409,
        "last_admin",
        "This is the last admin key of the whole service; without it nobody could manage tenants and keys.",
        "Create another admin key for the tenant `default` first, or start the service with METIER_ADMIN_KEY.",
      );
    }
    const key = await keys.revoke(found.tenant, found.id, now(), identity.actor ?? identity.keyId);
    if (key === undefined) return refuseMissing("key", param("id"), "/v1/keys");
    return replyWith(showKey(key, now()));
  },
});

export const KEY_ROUTES: readonly ServiceRoute[] = [createKey, listKeys, revokeKey];
