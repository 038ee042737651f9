/**
 * Whose models a tenant's runs use: its own providers', and the machine's if the platform's admins allow it. Otherwise,
 * the machine's keys are only for the tenant `default`.
 */
import type { RecordStore, StoredRecord } from "@metier/durable";
import { addressOfKind, type OwnModels, type OwnProvider } from "@metier/run/model";
import { createHostFetch } from "@metier/sandbox/egress";
import { type Actor, tellOf } from "../keys/audit-line.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { TenantEgress } from "./private-hosts.ts";
import { listProviders, type StoredProvider } from "./provider-store.ts";

const KIND = "model-access";
const ID = "home";

export const NO_MODEL_HINT =
  "Add a provider with your own key (`PUT /v1/secrets/{name}`, then `PUT /v1/providers/{name}`), or ask an admin of the whole service for access to its models.";

/** As set by the platform's admins, or by default. */
export async function usesHomeModels(records: RecordStore, tenant: string): Promise<boolean> {
  const stored = await records.get({ tenant, kind: KIND, id: ID });
  const { usesHomeModels: told } = stored?.body ?? {};
  return typeof told === "boolean" ? told : tenant === DEFAULT_TENANT;
}

/** `by.tenant` is the tenant that it is about. */
export async function setHomeModels(records: RecordStore, by: Actor, told: boolean): Promise<StoredRecord> {
  const key = { tenant: by.tenant, kind: KIND, id: ID };
  const body = { usesHomeModels: told };
  for (;;) {
    const before = await records.get(key);
    const line = tellOf(by, "models.changed", ID, body);
    const stored = await records.put(key, body, before?.revision ?? 0, line);
    if (stored !== undefined) return stored; // Otherwise someone else did it at the same time: the later one counts.
  }
}

/** Whether its runs can have any model: without one, nothing needs to start. */
export async function hasModels(records: RecordStore, tenant: string): Promise<boolean> {
  return (await usesHomeModels(records, tenant)) || (await listProviders(records, tenant)).length > 0;
}

interface StoredModels {
  readonly providers: readonly StoredProvider[];
  readonly home: OwnModels["home"];
}

/** What a tenant's runs may use now. */
export async function readOwnModels(records: RecordStore, tenant: string): Promise<StoredModels> {
  const [providers, isAllowed] = await Promise.all([
    listProviders(records, tenant),
    usesHomeModels(records, tenant),
  ]);
  const ofHome = tenant === DEFAULT_TENANT ? "all" : "configured";
  return { providers, home: isAllowed ? ofHome : "none" };
}

/**
 * For a run that is being advanced, with its tenant's secrets. `undefined`: everything the machine has, and nothing
 * else.
 */
export function openOwnModels(
  { providers, home }: StoredModels,
  secrets: Readonly<Record<string, string>>,
  egress: TenantEgress,
): OwnModels | undefined {
  if (home === "all" && providers.length === 0) return undefined;
  return {
    providers: providers.flatMap((provider) => openProvider(provider, secrets, egress) ?? []),
    home,
    hint: NO_MODEL_HINT,
  };
}

/** Its address: the tenant's, or the default for its kind, whatever the service's environment says. */
export function addressOf({ kind, baseUrl }: Pick<StoredProvider, "kind" | "baseUrl">): string | undefined {
  return baseUrl ?? addressOfKind(kind);
}

/** A provider whose secret is gone is left out: it couldn't be used. */
function openProvider(
  { name, kind, baseUrl, secret, models, inputPrice, outputPrice }: StoredProvider,
  secrets: Readonly<Record<string, string>>,
  { privateHosts, addresses }: TenantEgress,
): OwnProvider | undefined {
  const address = addressOf({ kind, baseUrl });
  const value = secret !== undefined && Object.hasOwn(secrets, secret) ? secrets[secret] : undefined;
  if (address === undefined || (secret !== undefined && value === undefined)) return undefined;
  return {
    name,
    kind,
    baseUrl: address,
    key: secret !== undefined && value !== undefined ? { name: secret, value, isStored: true } : undefined,
    models,
    inputPrice,
    outputPrice,
    fetch: createHostFetch(address, { privateHosts, ...(addresses && { addresses }) }),
  };
}
