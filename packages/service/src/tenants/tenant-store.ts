/**
 * Tenants: an id that the service makes and everything else has, and a name for people, which no other tenant has. The name is
 * taken first, with the id that goes with it, so that two who want the same name at once make one tenant.
 */
import { randomBytes } from "node:crypto";
import { choiceShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, type RecordStore, type StoredRecord } from "@metier/durable";
import { type Actor, tellOf } from "../keys/audit-line.ts";
import { DEFAULT_TENANT, SYSTEM_TENANT } from "../keys/identity.ts";

const KIND = "tenant";
const NAME_KIND = "tenant-name";
/** Of ids: no name begins so, and none of an id can be taken as a name. */
const ID_PREFIX = "t_";
const RESERVED: ReadonlySet<string> = new Set([
  DEFAULT_TENANT,
  "all",
  "metier",
  "platform",
  "system",
  "terminal",
]);

const STATUSES = ["active", "deleting"] as const;

interface TenantBody {
  readonly name: string;
  readonly status: (typeof STATUSES)[number];
}

const bodyShape = recordShape<TenantBody>({ name: textShape, status: choiceShape(...STATUSES) });
const nameShape = recordShape<{ readonly id: string }>({ id: textShape });

export interface Tenant extends TenantBody {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface TenantStore {
  /** `undefined`: another one has the name. */
  create(name: string, by: Actor): Promise<Tenant | undefined>;
  /** By its id or its name. */
  find(idOrName: string): Promise<Tenant | undefined>;
  /** In the order in which they were made, from behind the tenant `after`. */
  list(page: { readonly after: string | undefined; readonly limit: number }): Promise<readonly Tenant[]>;
  /** Whether anything may be done for it: it is there, and nobody is deleting it. */
  isActive(id: string): Promise<boolean>;
  /** Its keys act no longer. */
  close(id: string): Promise<void>;
  /** The last of it: its name is free again. */
  remove(id: string): Promise<void>;
  /** `default` is always there. */
  makeDefault(): Promise<void>;
}

export function isReservedName(name: string): boolean {
  return RESERVED.has(name.toLowerCase()) || name.toLowerCase().startsWith(ID_PREFIX);
}

/** The service's own records, whoever asks: who may ask is decided before. */
export function openTenantStore(records: RecordStore): TenantStore {
  const get = async (id: string): Promise<Tenant | undefined> => {
    const stored = await records.get({ tenant: SYSTEM_TENANT, kind: KIND, id });
    return stored && readTenant(stored);
  };
  return {
    create: (name, by) => forAllTenants(() => createTenant(records, name, by)),
    find: (text) =>
      forAllTenants(async () => {
        if (text === DEFAULT_TENANT || text.startsWith(ID_PREFIX)) return get(text);
        const id = await idOfName(records, text);
        return id === undefined ? undefined : get(id);
      }),
    list: (page) =>
      forAllTenants(async () => {
        const stored = await records.list({ tenant: SYSTEM_TENANT, kind: KIND, ...page });
        return stored.flatMap((record) => readTenant(record) ?? []);
      }),
    isActive: async (id) =>
      id === DEFAULT_TENANT || (await forAllTenants(() => get(id)))?.status === "active",
    close: (id) =>
      forAllTenants(async () => {
        for (;;) {
          const stored = await records.get({ tenant: SYSTEM_TENANT, kind: KIND, id });
          if (stored === undefined || stored.body.status === "deleting") return;
          if (await records.put(stored, { ...stored.body, status: "deleting" }, stored.revision)) return;
        }
      }),
    remove: (id) =>
      forAllTenants(async () => {
        const tenant = await get(id);
        if (tenant === undefined) return;
        await records.delete(nameKey(tenant.name));
        await records.delete({ tenant: SYSTEM_TENANT, kind: KIND, id });
      }),
    makeDefault: () =>
      forAllTenants(async () => {
        const key = { tenant: SYSTEM_TENANT, kind: KIND, id: DEFAULT_TENANT };
        if ((await records.get(key)) === undefined)
          await records.put(key, { name: DEFAULT_TENANT, status: "active" }, 0);
      }),
  };
}

async function createTenant(records: RecordStore, name: string, by: Actor): Promise<Tenant | undefined> {
  const made = `${ID_PREFIX}${randomBytes(8).toString("hex")}`;
  const isTaken = (await records.put(nameKey(name), { id: made }, 0)) === undefined;
  // A process that was killed may have taken the name without making the tenant: it is made now, and once.
  const id = isTaken ? await idOfName(records, name) : made;
  if (id === undefined) return undefined;
  const body = { name, status: "active" } as const;
  const line = tellOf(by, "tenant.created", id, { name });
  const stored = await records.put({ tenant: SYSTEM_TENANT, kind: KIND, id }, body, 0, line);
  return stored && readTenant(stored);
}

async function idOfName(records: RecordStore, name: string): Promise<string | undefined> {
  const stored = await records.get(nameKey(name));
  return stored && fitShape(nameShape, stored.body)?.id;
}

/** Whichever way it is spelled. */
function nameKey(name: string) {
  return { tenant: SYSTEM_TENANT, kind: NAME_KIND, id: name.toLowerCase() };
}

function readTenant({ id, body, createdAt }: StoredRecord): Tenant | undefined {
  const read = fitShape(bodyShape, body);
  return read && { id, createdAt, ...read };
}
