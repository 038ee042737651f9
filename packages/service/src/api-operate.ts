/** Response types for operators: tenants, keys, workers, the queue, quotas and the audit log. */
import type { Json } from "@metier/base/json";
import type { ApiUsage } from "./api.ts";

/** `GET /v1/tenants`, `POST /v1/tenants`. For the platform's admins. */
export interface ApiTenant {
  /** Created by the service; used in keys, runs and the audit log. */
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  /** `deleting`: its runs are being ended and removed. */
  readonly status: "active" | "deleting";
}

/** `GET /v1/keys`: the caller's tenant's keys; `?tenant=` for the platform's admins. */
export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly role?: "viewer" | "member" | "operator" | "admin";
  readonly scopes: readonly string[];
  readonly status: "active" | "expired" | "revoked";
  readonly userId?: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  /** Only in the response that creates it. */
  readonly key?: string;
}

/** `GET /v1/workers`. For `operate` in the tenant `default`. */
export interface ApiWorker {
  readonly id: string;
  readonly host: string;
  readonly version: string;
  readonly slots: number;
  /** How many runs it is advancing now. */
  readonly active: number;
  readonly startedAt: string;
  readonly seenAt: string;
  /** `draining`: takes no more runs. `silent`: it hasn't reported for a while; others continue its runs. */
  readonly state: "working" | "draining" | "silent";
}

/** One tenant's part of the queue. */
export interface ApiTenantQueue {
  readonly tenant: string;
  /** For the platform's admins. */
  readonly name?: string;
  readonly queued: number;
  readonly running: number;
  readonly oldestAt?: string;
}

/** `GET /v1/queue`: of all tenants for `operate` in `default`, else of the caller's. */
export interface ApiQueue {
  readonly queued: number;
  readonly running: number;
  readonly parked: number;
  readonly oldestAt?: string;
  readonly tenants: readonly ApiTenantQueue[];
}

/** The limits; an absent one is unlimited. */
export interface ApiQuotaLimits {
  readonly concurrentRuns?: number;
  readonly openRuns?: number;
  readonly startsPerMinute?: number;
  readonly tokensPerDay?: number;
  readonly costPerDay?: number;
  readonly storageBytes?: number;
}

/** `GET /v1/quotas`, `PUT /v1/quotas` (users' part, by the tenant's admins), `GET|PUT /v1/tenants/{id}/quotas`. */
export interface ApiQuotas {
  /** For the whole tenant. Set by the platform's admins. */
  readonly tenant: ApiQuotaLimits;
  /** For each user, unless listed in `users`. */
  readonly eachUser: ApiQuotaLimits;
  readonly users: Readonly<Record<string, ApiQuotaLimits>>;
  /** The tenant's current usage. */
  readonly used: Required<ApiQuotaLimits>;
}

/** `GET /v1/audit`. */
export interface ApiAuditLine {
  readonly seq: number;
  readonly at: string;
  /** Who did it; a pseudonym if the person was deleted. */
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail?: Json;
  readonly previous: string;
  readonly digest: string;
}

/** One entry of `GET /v1/usage?by=day|skill|user`: for root runs that have ended. */
export interface ApiUsageSum extends ApiUsage {
  /** The day (`2026-11-17`, UTC), skill or user; empty if a run has none. */
  readonly key: string;
  readonly runs: number;
  /** Of runs with a known price. */
  readonly cost: number;
  readonly runsWithoutCost: number;
  readonly activeMs: number;
}
