/**
 * A tenant's model providers: with its own key, which is one of its secrets, and an address that the egress gate
 * allows. Also, for the platform's admins: whether a tenant may use this machine's models.
 */
import { type JsonObject, presentFields } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { flagShape, tableShape } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import { forTenant } from "@metier/durable";
import { OWN_PROVIDER_KINDS } from "@metier/run/model";
import { checkReachable } from "@metier/sandbox/egress";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { NUMBER_FIELD, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";
import { addressOf, setHomeModels, usesHomeModels } from "../providers/model-access.ts";
import {
  hasRoom,
  isTakenName,
  PROVIDER_KIND,
  type ProviderBody,
  providerShape,
  readProvider,
  type StoredProvider,
  toRecord,
} from "../providers/provider-store.ts";
import type { ServiceContext } from "../service-context.ts";
import { findNamedTenant } from "../tenants/resolve-tenant.ts";

const GROUP = "providers";
const LIST = "/v1/providers";
const providerSchema = objectOf(
  {
    name: TEXT_FIELD,
    kind: { enum: [...OWN_PROVIDER_KINDS] },
    baseUrl: TEXT_FIELD,
    secret: TEXT_FIELD,
    models: { type: "array", items: TEXT_FIELD },
    inputPrice: NUMBER_FIELD,
    outputPrice: NUMBER_FIELD,
    updatedAt: TIME_FIELD,
  },
  ["name", "kind", "updatedAt"],
);
const answers = { 200: { about: "The provider, with the name of its secret.", schema: providerSchema } };

function showProvider({ updatedAt, ...provider }: StoredProvider): JsonObject {
  return {
    ...(presentFields({ ...provider }) as unknown as JsonObject),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

const writeProvider = defineRoute<Record<never, never>, ProviderBody>({
  method: "PUT",
  path: "/v1/providers/{name}",
  scope: "write",
  group: GROUP,
  summary: "Create or replace a model provider with your own key. Runs name its models `<name>/<model>`.",
  body: providerShape,
  answers,
  async handle({ body, identity, param }, context) {
    const { records } = context;
    const name = param("name");
    const checked = await checkProvider(context, identity.tenant, name, body);
    if (!checked.ok) return checked;
    const key = { tenant: identity.tenant, kind: PROVIDER_KIND, id: name };
    for (;;) {
      const before = await records.get(key);
      if (before === undefined && !(await hasRoom(records, identity.tenant))) return refuseMore();
      const action = before === undefined ? "provider.created" : "provider.changed";
      const { kind, baseUrl } = body;
      const line = tellOf(identity, action, name, presentFields({ kind, baseUrl }));
      const stored = await records.put(key, toRecord(body), before?.revision ?? 0, line);
      if (stored === undefined) continue; // Someone else wrote it at the same time: the later one counts.
      const provider = readProvider(stored);
      if (provider === undefined) throw new Error("What was just written can be read.");
      return replyWith(showProvider(provider));
    }
  },
});

async function checkProvider(
  context: ServiceContext,
  tenant: string,
  name: string,
  { kind, baseUrl, secret, models }: ProviderBody,
): Promise<Result<undefined, HttpRefusal>> {
  if (isTakenName(name, kind)) {
    return refuseRequest(
      `${showValue(name)} is reserved and cannot name a provider.`,
      "Choose another name.",
    );
  }
  if (models?.length === 0) {
    return refuseRequest(
      "`models` is empty.",
      "List the models that may be used, or leave it out to allow all.",
    );
  }
  const address = addressOf({ kind, baseUrl });
  if (address === undefined) {
    return refuseRequest(`A \`${kind}\` provider needs a \`baseUrl\`.`, "Set it to the server's address.");
  }
  if (secret === undefined && kind !== "openai-compatible") {
    return refuseRequest(
      `A \`${kind}\` provider needs a \`secret\`.`,
      "Set it to the name of the secret that holds its key.",
    );
  }
  return (await checkSecret(context, tenant, secret)) ?? checkAddress(context, address);
}

async function checkSecret(
  { records }: ServiceContext,
  tenant: string,
  secret: string | undefined,
): Promise<Result<never, HttpRefusal> | undefined> {
  if (secret === undefined) return undefined;
  const stored = await records.get({ tenant, kind: "secret", id: secret });
  if (stored !== undefined) return undefined;
  const message = `There is no secret called ${showValue(secret)}.`;
  return refuse(422, "unknown_secret", message, `Create it first: \`PUT /v1/secrets/${secret}\`.`);
}

async function checkAddress(
  { egress }: ServiceContext,
  address: string,
): Promise<Result<undefined, HttpRefusal>> {
  const checked = await checkReachable(address, egress);
  if (checked.ok) return done(undefined);
  return refuse(
    422,
    "address_refused",
    checked.refusal.message,
    "Use a public `https:` address. An operator can allow a host on a private network with METIER_PRIVATE_HOSTS.",
  );
}

function refuseMore(): Result<never, HttpRefusal> {
  return refuse(
    409,
    "too_many_providers",
    "Your tenant already has 100 providers, which is the limit.",
    "Remove one first.",
  );
}

const listAllProviders = defineRoute<PageQuery>({
  method: "GET",
  path: LIST,
  scope: "read",
  group: GROUP,
  summary: "List your tenant's model providers, without their keys.",
  query: pageShape,
  answers: pageAnswer("providers", providerSchema),
  handle: ({ query, identity: { tenant } }, { records }) =>
    replyPage(query, {
      read: (page) => records.list({ tenant, kind: PROVIDER_KIND, ...page }),
      cursor: ({ id }) => id,
      show(stored) {
        const provider = readProvider(stored);
        return provider && showProvider(provider);
      },
    }),
});

const readOneProvider = defineRoute({
  method: "GET",
  path: "/v1/providers/{name}",
  scope: "read",
  group: GROUP,
  summary: "Get a model provider, without its key.",
  answers,
  async handle({ identity: { tenant }, param }, { records }) {
    const name = param("name");
    const stored = await records.get({ tenant, kind: PROVIDER_KIND, id: name });
    const provider = stored && readProvider(stored);
    return provider ? replyWith(showProvider(provider)) : refuseMissing("provider", name, LIST);
  },
});

const deleteProvider = defineRoute({
  method: "DELETE",
  path: "/v1/providers/{name}",
  scope: "write",
  group: GROUP,
  summary: "Remove a model provider. Its secret stays.",
  answers: { 200: { about: "The removed provider.", schema: objectOf({ name: TEXT_FIELD }) } },
  async handle({ identity, param }, { records }) {
    const name = param("name");
    const key = { tenant: identity.tenant, kind: PROVIDER_KIND, id: name };
    const isGone = await records.delete(key, tellOf(identity, "provider.removed", name));
    return isGone ? replyWith({ name }) : refuseMissing("provider", name, LIST);
  },
});

interface AccessBody {
  readonly usesHomeModels: boolean;
}

const accessAnswers = {
  200: { about: "The current setting.", schema: objectOf({ usesHomeModels: { type: "boolean" } }) },
};

const readAccess = defineRoute({
  method: "GET",
  path: "/v1/tenants/{id}/models",
  scope: "platform",
  group: GROUP,
  summary: "Get whether a tenant's runs may use this service's models.",
  answers: accessAnswers,
  async handle({ param }, context) {
    const { records } = context;
    const tenant = await findNamedTenant(context, param("id"));
    if (!tenant.ok) return tenant;
    const told = await forTenant(tenant.value, () => usesHomeModels(records, tenant.value));
    return replyWith({ usesHomeModels: told });
  },
});

const writeAccess = defineRoute<Record<never, never>, AccessBody>({
  method: "PUT",
  path: "/v1/tenants/{id}/models",
  scope: "platform",
  group: GROUP,
  summary: "Set whether a tenant's runs may use this service's models, with its keys.",
  body: tableShape<AccessBody>({ usesHomeModels: flagShape }, ["usesHomeModels"]),
  answers: accessAnswers,
  async handle({ body, identity, param }, context) {
    const { records } = context;
    const tenant = await findNamedTenant(context, param("id"));
    if (!tenant.ok) return tenant;
    const by = { ...identity, tenant: tenant.value };
    await forTenant(tenant.value, () => setHomeModels(records, by, body.usesHomeModels));
    return replyWith({ usesHomeModels: body.usesHomeModels });
  },
});

export const PROVIDER_ROUTES: readonly ServiceRoute[] = [
  writeProvider,
  listAllProviders,
  readOneProvider,
  deleteProvider,
  readAccess,
  writeAccess,
];
