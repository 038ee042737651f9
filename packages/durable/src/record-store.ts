/**
 * What the service stores besides runs: agents, sessions, schedules, secrets, keys and skill versions, as documents by
 * tenant, kind and id; and the audit log, in which each line has the digest of the previous one.
 */
import type { Json, JsonObject } from "@metier/base/json";

export interface RecordKey {
  readonly tenant: string;
  readonly kind: string;
  readonly id: string;
}

export interface StoredRecord extends RecordKey {
  /** Counts its changes, from 1. */
  readonly revision: number;
  readonly body: JsonObject;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

interface RecordFilter {
  readonly tenant: string;
  readonly kind: string;
  /** Oldest first; those after this id. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Who did what, as requested. */
export interface NewAuditLine {
  /** Whose log it is in. */
  readonly tenant: string;
  /** Who did it: a key's id, or a user. */
  readonly actor: string;
  /** `approval.approved`, `skill.uploaded` … */
  readonly action: string;
  /** What it was done to. */
  readonly subject: string;
  /** Other details. */
  readonly detail?: Json | undefined;
}

export interface AuditLine extends NewAuditLine {
  /** 1, 2, 3 … within the tenant. */
  readonly seq: number;
  readonly at: number;
  /** Of the previous line; the first has 64 zeros. */
  readonly previous: string;
  /** SHA-256 of everything above. */
  readonly digest: string;
}

/**
 * Everything that takes an audit line writes it together with the change, and only if the change happens: both or
 * neither.
 */
export interface RecordStore {
  /** `revision`: the one to replace, 0 for a new record. `undefined`: someone else was faster. */
  put(
    key: RecordKey,
    body: JsonObject,
    revision: number,
    line?: NewAuditLine,
  ): Promise<StoredRecord | undefined>;
  get(key: RecordKey): Promise<StoredRecord | undefined>;
  /** For any tenant: for lookups before the tenant is known, such as a key by its digest. */
  find(kind: string, id: string): Promise<StoredRecord | undefined>;
  list(filter: RecordFilter): Promise<readonly StoredRecord[]>;
  /** Of all tenants. */
  listAll(kind: string): Promise<readonly StoredRecord[]>;
  delete(key: RecordKey, line?: NewAuditLine): Promise<boolean>;
  /** Deletes all records of a deleted tenant; its audit log stays. Returns how many. */
  forgetTenant(tenant: string): Promise<number>;
  auditLines(tenant: string, after: number, limit: number): Promise<readonly AuditLine[]>;
}
