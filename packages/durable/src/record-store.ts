/**
 * What the service keeps beside runs: agents, sessions, schedules, secrets, keys, versions of skills, as documents under a
 * tenant, a kind and an id; and the audit log, in which each line carries the digest of the one before.
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

/** Who did what, as it is asked for. */
export interface NewAuditLine {
  /** Whose log it is in. */
  readonly tenant: string;
  /** Who did it: a key's id, or a user. */
  readonly actor: string;
  /** `approval.approved`, `skill.uploaded` … */
  readonly action: string;
  /** What it was done to. */
  readonly subject: string;
  /** What else there is to say. */
  readonly detail?: Json | undefined;
}

export interface AuditLine extends NewAuditLine {
  /** 1, 2, 3 … within the tenant. */
  readonly seq: number;
  readonly at: number;
  /** Of the line before it; the first has 64 zeros. */
  readonly previous: string;
  /** SHA-256 of everything above. */
  readonly digest: string;
}

/** Whatever takes a line of the audit log writes it together with what it does, and only if it does it: both or neither. */
export interface RecordStore {
  /** `revision`: the one that is to be replaced, 0 for a new record. `undefined`: somebody was faster. */
  put(
    key: RecordKey,
    body: JsonObject,
    revision: number,
    line?: NewAuditLine,
  ): Promise<StoredRecord | undefined>;
  get(key: RecordKey): Promise<StoredRecord | undefined>;
  /** Whatever its tenant: for what is looked up before a tenant is known, such as a key by its digest. */
  find(kind: string, id: string): Promise<StoredRecord | undefined>;
  list(filter: RecordFilter): Promise<readonly StoredRecord[]>;
  /** Of all tenants. */
  listAll(kind: string): Promise<readonly StoredRecord[]>;
  delete(key: RecordKey, line?: NewAuditLine): Promise<boolean>;
  /** All records of a tenant that is deleted; its audit log stays. Gives how many. */
  forgetTenant(tenant: string): Promise<number>;
  auditLines(tenant: string, after: number, limit: number): Promise<readonly AuditLine[]>;
}
