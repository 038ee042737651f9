/**
 * Secrets: written, never read. They are stored sealed with the tenant's key; a worker opens them where a step runs.
 */

import { readShape, tableShape } from "@metier/base/shape";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { boundedText, objectOf, plainName, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";

const KIND = "secret";
const GROUP = "secrets";
const secretSchema = objectOf({ name: TEXT_FIELD, updatedAt: TIME_FIELD });

interface SecretBody {
  readonly value: string;
}

const writeSecret = defineRoute<Record<never, never>, SecretBody>({
  method: "PUT",
  path: "/v1/secrets/{name}",
  scope: "write",
  group: GROUP,
  summary: "Create or replace a secret. The API never returns its value.",
  body: tableShape<SecretBody>({ value: boundedText(64 * 1024, 1) }, ["value"]),
  answers: { 200: { about: "Its name and time, never its value.", schema: secretSchema } },
  async handle({ body: { value }, identity, param }, { records, tenantKeys }) {
    const { tenant } = identity;
    const name = param("name");
    if (!readShape(plainName, name).ok) {
      return refuseRequest("The secret's name is invalid.", "Use 1 to 64 letters, digits, `.`, `_` or `-`.");
    }
    const sealed = (await tenantKeys.of(tenant)).seal({ tenant, purpose: `secret/${name}` }, value);
    const key = { tenant, kind: KIND, id: name };
    for (;;) {
      const before = await records.get(key);
      const line = tellOf(identity, before === undefined ? "secret.created" : "secret.changed", name);
      const stored = await records.put(key, { sealed }, before?.revision ?? 0, line);
      if (stored === undefined) continue; // Someone else wrote it at the same time: the later one counts.
      return replyWith({ name, updatedAt: new Date(stored.updatedAt).toISOString() });
    }
  },
});

const listSecrets = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/secrets",
  scope: "read",
  group: GROUP,
  summary: "List the names of secrets, never their values.",
  query: pageShape,
  answers: pageAnswer("secrets", secretSchema),
  handle: ({ query, identity: { tenant } }, { records }) =>
    replyPage(query, {
      read: (page) => records.list({ tenant, kind: KIND, ...page }),
      cursor: ({ id }) => id,
      show: ({ id, updatedAt }) => ({ name: id, updatedAt: new Date(updatedAt).toISOString() }),
    }),
});

const deleteSecret = defineRoute({
  method: "DELETE",
  path: "/v1/secrets/{name}",
  scope: "write",
  group: GROUP,
  summary: "Remove a secret.",
  answers: { 200: { about: "The removed secret.", schema: objectOf({ name: TEXT_FIELD }) } },
  async handle({ identity, param }, { records }) {
    const name = param("name");
    const key = { tenant: identity.tenant, kind: KIND, id: name };
    const isGone = await records.delete(key, tellOf(identity, "secret.removed", name));
    return isGone ? replyWith({ name }) : refuseMissing("secret", name, "/v1/secrets");
  },
});

export const SECRET_ROUTES: readonly ServiceRoute[] = [writeSecret, listSecrets, deleteSecret];
