/** Tenants' model providers, as records. A provider's key is a secret of its tenant: it is named here, never stored. */
import { type JsonObject, presentFields } from "@metier/base/json";
import {
  choiceShape,
  fitShape,
  listShape,
  recordShape,
  tableShape,
  testedShape,
  textShape,
} from "@metier/base/shape";
import type { RecordStore, StoredRecord } from "@metier/durable";
import { BUILT_IN_ALIASES, OWN_PROVIDER_KINDS, type OwnProviderKind } from "@metier/run/model";
import { MODEL_PROVIDERS } from "@metier/skills/config";
import { boundedText, plainName } from "../http/query-shapes.ts";

export const PROVIDER_KIND = "provider";
const MOST_PROVIDERS = 100;

/** What a client writes. */
export interface ProviderBody {
  readonly kind: OwnProviderKind;
  /** Default: the address of that kind. */
  readonly baseUrl?: string | undefined;
  /** The name of a secret of the tenant. */
  readonly secret?: string | undefined;
  /** The only models that runs may name; the first is the default. */
  readonly models?: readonly string[] | undefined;
  /** For a million tokens. */
  readonly inputPrice?: number | undefined;
  readonly outputPrice?: number | undefined;
}

export interface StoredProvider extends ProviderBody {
  readonly name: string;
  readonly updatedAt: number;
}

const price = testedShape(
  (value): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "a number of 0 or more",
);

export const providerShape = tableShape<ProviderBody>(
  {
    kind: choiceShape(...OWN_PROVIDER_KINDS),
    baseUrl: boundedText(2_000, 1),
    secret: plainName,
    models: listShape(boundedText(200, 1)),
    inputPrice: price,
    outputPrice: price,
  },
  ["kind"],
);

const storedShape = recordShape<ProviderBody>(
  {
    kind: choiceShape(...OWN_PROVIDER_KINDS),
    baseUrl: textShape,
    secret: textShape,
    models: listShape(textShape),
    inputPrice: price,
    outputPrice: price,
  },
  ["baseUrl", "secret", "models", "inputPrice", "outputPrice"],
);

/** Names with another meaning; a kind can only name a provider of that kind. */
export function isTakenName(name: string, kind: OwnProviderKind): boolean {
  if (name === kind) return false;
  return ["default", "inherit", ...MODEL_PROVIDERS].includes(name) || Object.hasOwn(BUILT_IN_ALIASES, name);
}

export async function listProviders(
  records: RecordStore,
  tenant: string,
): Promise<readonly StoredProvider[]> {
  const stored = await records.list({ tenant, kind: PROVIDER_KIND, limit: MOST_PROVIDERS });
  return stored.flatMap((record) => readProvider(record) ?? []);
}

/** `undefined`: the record is damaged. */
export function readProvider({ id, body, updatedAt }: StoredRecord): StoredProvider | undefined {
  const read = fitShape(storedShape, body);
  return read && { name: id, updatedAt, ...read };
}

export function toRecord(body: ProviderBody): JsonObject {
  return presentFields({ ...body }) as unknown as JsonObject;
}

/** Whether another one can be added. */
export async function hasRoom(records: RecordStore, tenant: string): Promise<boolean> {
  const stored = await records.list({ tenant, kind: PROVIDER_KIND, limit: MOST_PROVIDERS });
  return stored.length < MOST_PROVIDERS;
}
