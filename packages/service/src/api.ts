/**
 * The response types of the API, for the inspector's page and TypeScript clients. The routes are checked against them
 * where they are written.
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

/** One page of a list. */
export interface ApiList<Item> {
  readonly data: readonly Item[];
  /** Pass it to get the next page. */
  readonly next?: string;
}

/** The body of every refusal. */
export interface ApiError {
  readonly error: { readonly code: string; readonly message: string; readonly hint?: string };
}

export type ApiDiagnostic = Omit<Diagnostic, "path"> & {
  /** Relative to the skill's folder; absent: the whole skill. */
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

/** An item of `GET /v1/runs`. */
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
  /** `kept`: a command line run that can only be viewed. */
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

/** One event of a run from `GET /v1/runs/{id}/events`: a `RunEvent` without server paths. */
export type ApiRunEvent = JsonObject & {
  readonly type: string;
  readonly seq: number;
  readonly at: string;
  readonly runId: string;
};

/** `GET /v1/changes`, server-sent: what lists must reload. */
export interface ApiChange {
  readonly kind: "run" | "approval" | "catalog";
  readonly id?: string;
}

/** An item of `GET /v1/approvals`. */
export interface ApiApproval {
  readonly id: string;
  readonly run: string;
  readonly root: string;
  readonly kind: "approval" | "confirmation";
  readonly status: "pending" | "approved" | "denied" | "expired" | "cancelled";
  readonly skill?: string;
  readonly tool?: string;
  readonly input?: Json;
  /** For a capability's change: what it does, and with whose account. */
  readonly description?: string;
  readonly account?: string;
  readonly accountName?: string;
  readonly user?: string;
  /** The input is too large to show in full: it can only be approved with another one. */
  readonly isCut?: boolean;
  /** Why it is asked. */
  readonly rule?: string;
  /** For a call that writes a file: a unified diff. */
  readonly diff?: string;
  /** The policy line that "always" would write; absent: no rule can say it. */
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
  /** Usable skills that no run used in this period. */
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

/** An item of `GET /v1/questions`. */
export interface ApiQuestion {
  readonly id: string;
  readonly run: string;
  readonly question: string;
  readonly options?: readonly string[];
  readonly status: string;
  readonly askedAt?: string;
}

/** An item of `GET /v1/agents`. */
export interface ApiAgent {
  readonly name: string;
  readonly version: number;
  readonly definition: JsonObject;
  readonly createdAt: string;
}

/** An item of `GET /v1/schedules`. */
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
