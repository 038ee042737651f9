/** API keys: made, listed and revoked by admins. The text of a key is shown once, when it is made. */
import type { JsonObject } from "@metier/base/json";
import { choiceShape, listShape, tableShape } from "@metier/base/shape";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { boundedText, objectOf, TEXT_FIELD, TIME_FIELD, timeText } from "../http/query-shapes.ts";
import { refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { isActing, type StoredKey } from "../keys/key-store.ts";
import { KEY_ROLES, KEY_SCOPES, type KeyRole, type KeyScope, ROLE_SCOPES } from "../keys/scopes.ts";

const GROUP = "keys";
const keySchema = objectOf(
  {
    id: TEXT_FIELD,
    name: TEXT_FIELD,
    scopes: { type: "array", items: { enum: [...KEY_SCOPES] } },
    status: TEXT_FIELD,
    createdAt: TIME_FIELD,
    expiresAt: TIME_FIELD,
  },
  ["id", "name", "scopes", "status", "createdAt"],
);

interface KeyBody {
  readonly name: string;
  readonly role?: KeyRole;
  readonly scopes?: readonly KeyScope[];
  readonly expiresAt?: number;
  readonly userId?: string;
}

function showKey(key: StoredKey, now: number): JsonObject {
  const time = (name: string, at: number | undefined): JsonObject =>
    at === undefined ? {} : { [name]: new Date(at).toISOString() };
  const { id, name, scopes, userId, createdAt, expiresAt, revokedAt } = key;
  const status = isActing(key, now) ? "active" : revokedAt === undefined ? "expired" : "revoked";
  return {
    id,
    name,
    scopes: [...scopes],
    status,
    ...(userId !== undefined && { userId }),
    ...time("createdAt", createdAt),
    ...time("expiresAt", expiresAt),
    ...time("revokedAt", revokedAt),
  };
}

const createKey = defineRoute<Record<never, never>, KeyBody>({
  method: "POST",
  path: "/v1/keys",
  scope: "admin",
  group: GROUP,
  summary: "Make an API key with a role or with scopes. Its text is in this answer and nowhere else.",
  body: tableShape<KeyBody>(
    {
      name: boundedText(100, 1),
      role: choiceShape(...KEY_ROLES),
      scopes: listShape(choiceShape(...KEY_SCOPES)),
      expiresAt: timeText,
      userId: boundedText(256, 1),
    },
    ["name"],
  ),
  answers: { 201: { about: "The key. Keep `key`: it is not shown again.", schema: keySchema } },
  async handle({ body: { role, scopes, ...body }, identity, headers: _ }, context) {
    const granted = role === undefined ? (scopes ?? []) : ROLE_SCOPES[role];
    if ((role === undefined) === (scopes === undefined) || granted.length === 0) {
      return refuseRequest(
        "A key needs a `role` or a list of `scopes`, not both.",
        `Roles: ${KEY_ROLES.join(", ")}. Scopes: ${KEY_SCOPES.join(", ")}.`,
      );
    }
    if (body.expiresAt !== undefined && body.expiresAt <= context.now()) {
      return refuseRequest("`expiresAt` has passed already.", "Give a time in the future, or leave it out.");
    }
    const { tenant, keyId: actor } = identity;
    const made = await context.keys.create({ tenant, ...body, scopes: [...new Set(granted)] }, actor);
    return replyWith({ ...showKey(made.key, context.now()), key: made.text }, 201);
  },
});

const listKeys = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/keys",
  scope: "admin",
  group: GROUP,
  summary: "List API keys, without their texts.",
  query: pageShape,
  answers: pageAnswer("keys", keySchema),
  handle: ({ query, identity: { tenant } }, { keys, now }) =>
    replyPage(query, {
      read: (page) => keys.list(tenant, page),
      cursor: ({ id }) => id,
      show: (key) => showKey(key, now()),
    }),
});

const revokeKey = defineRoute({
  method: "DELETE",
  path: "/v1/keys/{id}",
  scope: "admin",
  group: GROUP,
  summary: "Revoke an API key, at once.",
  answers: { 200: { about: "The key, revoked.", schema: keySchema } },
  async handle({ identity: { tenant, keyId: actor }, param }, { keys, now, hasAdminKey }) {
    const admins = await keys.admins(now());
    if (!hasAdminKey && admins.length === 1 && admins[0]?.id === param("id")) {
      return refuse(
        409,
        "last_admin",
        "This is the last admin key; without it nobody could manage keys.",
        "Make another admin key first, or start the service with METIER_ADMIN_KEY.",
      );
    }
    const key = await keys.revoke(tenant, param("id"), now(), actor);
    if (key === undefined) return refuseMissing("key", param("id"), "/v1/keys");
    return replyWith(showKey(key, now()));
  },
});

export const KEY_ROUTES: readonly ServiceRoute[] = [createKey, listKeys, revokeKey];
