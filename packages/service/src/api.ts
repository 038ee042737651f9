/**
 * What the API answers with, as types alone: the inspector's page and clients in TypeScript read answers by these names. The
 * routes are held to them where they are written.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json, JsonObject } from "@metier/base/json";

export type {
  ApiEvalSummary,
  ApiEvalTask,
  ApiIteration,
  ApiRouted,
  ApiRouting,
  ApiRoutingWhy,
  ApiSpread,
} from "./api-evals.ts";

export type { ApiMe, ApiSignInWays } from "./api-me.ts";

export type {
  ApiAuditLine,
  ApiKey,
  ApiQueue,
  ApiQuotaLimits,
  ApiQuotas,
  ApiTenant,
  ApiTenantQueue,
  ApiUsageSum,
  ApiWorker,
} from "./api-operate.ts";

export type {
  ApiCatalog,
  ApiCatalogSkill,
  ApiDiff,
  ApiDiffLine,
  ApiFileDiff,
  ApiFileText,
  ApiFind,
  ApiFinding,
  ApiHit,
  ApiListing,
  ApiManifestField,
  ApiPlan,
  ApiSkill,
  ApiSkillFile,
  ApiSkillVersion,
} from "./api-skills.ts";

/** A page of a list. */
export interface ApiList<Item> {
  readonly data: readonly Item[];
  /** Asks for the page behind this one. */
  readonly next?: string;
}

/** What every refusal says. */
export interface ApiError {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}

export type ApiDiagnostic = Omit<Diagnostic, "path"> & {
  /** Below the skill's folder; absent: the skill as a whole. */
  readonly path?: string;
};

// Runs

type ApiRunStatus =
  | "queued"
  | "running"
  | "waiting"
  | "completed"
  | "limited"
  | "failed"
  | "refused"
  | "cancelled";

export interface ApiUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
}

/** A line of `GET /v1/runs`. */
export interface ApiRunSummary {
  readonly id: string;
  readonly status: ApiRunStatus;
  readonly skill?: string;
  readonly agent?: string;
  readonly userId?: string;
  readonly parent?: string;
  readonly model?: string;
  readonly trust?: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** How long it was worked on. */
  readonly activeMs: number;
  /** How many events it has. */
  readonly events: number;
  readonly usage?: ApiUsage;
  readonly cost?: number;
  readonly isCancelled?: boolean;
  /** `kept`: a run of the command line that is only looked at. */
  readonly origin?: "kept";
}

/** `GET /v1/runs/{id}`. */
export interface ApiRun extends ApiRunSummary {
  readonly text?: string;
  readonly object?: Json;
  readonly error?: { readonly code: string; readonly message: string };
  readonly limit?: string;
  readonly digest?: string;
  readonly sandbox?: {
    readonly backend: string;
    readonly declared: JsonObject;
    readonly granted: JsonObject;
    readonly used: JsonObject;
  };
  readonly diagnostics?: readonly ApiDiagnostic[];
  readonly children?: readonly ApiRunSummary[];
}

/** One event of a run, as `GET /v1/runs/{id}/events` sends it: a `RunEvent` without places of the server. */
export type ApiRunEvent = JsonObject & {
  readonly type: string;
  readonly seq: number;
  readonly at: string;
  readonly runId: string;
};

/** `GET /v1/changes`, server-sent: what lists must look at again. */
export interface ApiChange {
  readonly kind: "run" | "approval" | "catalog";
  readonly id?: string;
}

/** A line of `GET /v1/approvals`. */
export interface ApiApproval {
  readonly id: string;
  readonly run: string;
  readonly root: string;
  readonly kind: "approval" | "confirmation";
  readonly status: "pending" | "approved" | "denied" | "expired" | "cancelled";
  readonly skill?: string;
  readonly tool?: string;
  readonly input?: Json;
  /** Of a change by a capability: what it does, and with whose account. */
  readonly description?: string;
  readonly account?: string;
  readonly accountName?: string;
  readonly user?: string;
  /** The input is too large to be shown whole: it can only be approved with another one. */
  readonly isCut?: boolean;
  /** Why it is asked. */
  readonly rule?: string;
  /** Of a call that writes a file: unified. */
  readonly diff?: string;
  /** The line of the policy that "always" would write; absent: no rule can say it. */
  readonly alwaysRule?: string;
  readonly askedAt?: string;
  readonly expiresAt?: string;
  readonly answeredAt?: string;
  readonly answeredBy?: string;
}

/** `GET /v1/statistics`. */
export interface ApiStatistics {
  readonly from: string;
  readonly to: string;
  readonly days: readonly ApiDayStatistics[];
  readonly skills: readonly ApiSkillStatistics[];
  /** Usable skills that no run in this time used. */
  readonly neverUsed: readonly string[];
}

export interface ApiDayStatistics {
  readonly day: string;
  readonly runs: number;
  readonly failed: number;
  readonly tokens: number;
  readonly cost: number;
  readonly medianMs: number;
  readonly p95Ms: number;
}

export interface ApiSkillStatistics extends Omit<ApiDayStatistics, "day"> {
  readonly skill: string;
}

/** A line of `GET /v1/questions`. */
export interface ApiQuestion {
  readonly id: string;
  readonly run: string;
  readonly question: string;
  readonly options?: readonly string[];
  readonly status: string;
  readonly askedAt?: string;
}

/** A line of `GET /v1/agents`. */
export interface ApiAgent {
  readonly name: string;
  readonly version: number;
  readonly definition: JsonObject;
  readonly createdAt: string;
}

/** A line of `GET /v1/schedules`. */
export interface ApiSchedule {
  readonly id: string;
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: string;
  readonly isPaused: boolean;
  readonly nextAt?: string;
  readonly lastAt?: string;
  readonly lastRun?: string;
  /** Why the last due time started nothing. */
  readonly lastFault?: string;
  readonly run: JsonObject;
}
