/**
 * Tenants: an id that the service creates and everything else uses, and a unique name for people. The name is taken
 * first, together with its id, so that two simultaneous requests for the same name make one tenant.
 */
import { randomBytes } from "node:crypto";
import { choiceShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, type RecordStore, type StoredRecord } from "@metier/durable";
import { type Actor, tellOf } from "../keys/audit-line.ts";
import { DEFAULT_TENANT, SYSTEM_TENANT } from "../keys/identity.ts";

const KIND = "tenant";
const NAME_KIND = "tenant-name";
/** The prefix of ids. No name starts with it, so no id can be taken as a name. */
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
  /** `undefined`: the name is taken. */
  create(name: string, by: Actor): Promise<Tenant | undefined>;
  /** By its id or name. */
  find(idOrName: string): Promise<Tenant | undefined>;
  /** In order of creation, starting after the tenant `after`. */
  list(page: { readonly after: string | undefined; readonly limit: number }): Promise<readonly Tenant[]>;
  /** Whether anything may be done for it: it exists and isn't being deleted. */
  isActive(id: string): Promise<boolean>;
  /** Its keys stop working. */
  close(id: string): Promise<void>;
  /** The last step: its name is free again. */
  remove(id: string): Promise<void>;
  /** `default` always exists. */
  makeDefault(): Promise<void>;
}

export function isReservedName(name: string): boolean {
  return RESERVED.has(name.toLowerCase()) || name.toLowerCase().startsWith(ID_PREFIX);
}

/** Always in the service's own records; who may ask is decided earlier. */
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
  // A killed process may have taken the name without creating the tenant: it is created now, once.
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

/** Regardless of case. */
function nameKey(name: string) {
  return { tenant: SYSTEM_TENANT, kind: NAME_KIND, id: name.toLowerCase() };
}

function readTenant({ id, body, createdAt }: StoredRecord): Tenant | undefined {
  const read = fitShape(bodyShape, body);
  return read && { id, createdAt, ...read };
}
