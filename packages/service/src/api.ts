/**
 * What the API answers with, as types alone: the inspector's page and clients in TypeScript read answers by these names. The
 * routes are held to them where they are written.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json, JsonObject, JsonSchema } from "@metier/base/json";

export type {
  ApiEvalSummary,
  ApiEvalTask,
  ApiIteration,
  ApiRouted,
  ApiRouting,
  ApiRoutingWhy,
  ApiSpread,
} from "./api-evals.ts";

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

/** `GET /v1/me`: who asks, and what they may do here. */
export interface ApiMe {
  readonly keyId: string;
  readonly tenant: string;
  readonly userId?: string;
  readonly scopes: readonly string[];
  /** Sent back as `X-Metier-CSRF` with every change. Absent: the request came with a key, not with a cookie. */
  readonly csrf?: string;
  /** `inspect`: one person over their own home. `serve`: a service for many. */
  readonly mode: "inspect" | "serve";
  /** Whether an approval may be made a rule of the config from here. */
  readonly mayEditRules: boolean;
  readonly version: string;
}

export type ApiDiagnostic = Omit<Diagnostic, "path"> & {
  /** Below the skill's folder; absent: the skill as a whole. */
  readonly path?: string;
};

// Skills

/** One skill of the catalog, whatever its status. */
export interface ApiCatalogSkill {
  /** `scope:name`: reaches it even where another one of its name hides it. */
  readonly address: string;
  readonly name: string;
  readonly description: string;
  readonly scope: string;
  readonly source: "server" | "upload";
  readonly status: "enabled" | "disabled" | "unavailable" | "shadowed" | "invalid";
  /** Why it has that status; of one that is enabled: absent. */
  readonly reason?: string;
  readonly trust: "trusted" | "untrusted";
  readonly trustReason: string;
  readonly isForUsers: boolean;
  readonly isForModels: boolean;
  /** Tokens that its line in the listing costs, about. */
  readonly listingTokens: number;
  /** Tokens that its instructions cost once it is used, about. */
  readonly bodyTokens: number;
  readonly errors: number;
  readonly warnings: number;
  readonly tags: readonly string[];
}

/** `GET /v1/catalog`. */
export interface ApiCatalog extends ApiList<ApiCatalogSkill> {
  /** What is wrong outside of any skill: sources and configuration. */
  readonly diagnostics: readonly ApiDiagnostic[];
}

/** Why a skill was found: one word of the request. */
interface ApiFoundWord {
  readonly word: string;
  /** Where it stands: `name`, `description`, `tags`, `body`, … */
  readonly fields: readonly string[];
  /** Its part of the score, 0 to 1. */
  readonly share: number;
}

export interface ApiHit {
  readonly name: string;
  readonly description: string;
  readonly score: number;
  readonly words: readonly ApiFoundWord[];
  /** Words of the request that this skill does not have. */
  readonly missing: readonly string[];
}

/** `GET /v1/catalog/find?q=`. */
export interface ApiFind extends ApiList<ApiHit> {
  /** The words that were looked for, after folding. */
  readonly words: readonly string[];
}

/** `GET /v1/catalog/listing?budget=`: what a model would be told. */
export interface ApiListing {
  readonly text: string;
  readonly budget: number;
  readonly tokens: number;
  readonly fits: boolean;
  readonly full: readonly string[];
  readonly shortened: readonly string[];
  readonly nameOnly: readonly string[];
  readonly counted: readonly string[];
}

/** A field of a manifest as it is written, and what became of it. */
export interface ApiManifestField {
  readonly field: string;
  /** What counts: after checks and defaults. */
  readonly value: Json;
  /** `given`: as written. `default`: not written. `ignored`: nothing reads it. The others are findings. */
  readonly verdict: "given" | "default" | "ignored" | "warning" | "error";
  readonly remarks: readonly string[];
}

export interface ApiSkillFile {
  readonly path: string;
  readonly size: number;
  /** `instructions`, `script`, `reference`, `asset`, `test`, `eval`, `other`. */
  readonly kind: string;
}

export interface ApiSkillVersion {
  /** The content identity. */
  readonly digest: string;
  /** `installed`, `previous`, `uploaded`, `on disk`. */
  readonly label: string;
  readonly isCurrent: boolean;
  readonly at?: string;
}

/** What another program makes of the skill. */
export interface ApiClientVerdict {
  readonly client: string;
  readonly name: string;
  readonly verdict: "loads" | "loads with notes" | "does not load";
  readonly remarks: readonly string[];
}

/** `GET /v1/catalog/skills/{address}`. */
export interface ApiSkill extends ApiCatalogSkill {
  readonly displayName?: string;
  /** Markdown. */
  readonly instructions: string;
  readonly manifest: readonly ApiManifestField[];
  readonly files: readonly ApiSkillFile[];
  readonly digest?: string;
  /** Who granted trust, to what and when; newest first. */
  readonly grants: readonly { readonly what: string; readonly at?: string; readonly by?: string }[];
  readonly versions: readonly ApiSkillVersion[];
  readonly clients: readonly ApiClientVerdict[];
  readonly diagnostics: readonly ApiDiagnostic[];
  readonly findings: readonly ApiFinding[];
  readonly tests: readonly { readonly file: string; readonly name: string; readonly cases: number }[];
  /** The skills of the same name that this one hides, and the one that hides it: addresses. */
  readonly shadows: readonly string[];
  readonly shadowedBy?: string;
  readonly capabilities: readonly { readonly id: string; readonly provider?: string }[];
  readonly inputSchema?: JsonSchema;
  /** Names of positional arguments, where the skill says. */
  readonly arguments: readonly string[];
}

/** Something the scanner found. */
export interface ApiFinding {
  readonly path: string;
  readonly line?: number;
  readonly rule: string;
  readonly severity: "critical" | "high" | "medium" | "low" | "info";
  readonly message: string;
}

/** `GET /v1/catalog/skills/{address}/files/{path}`. */
export interface ApiFileText {
  readonly path: string;
  readonly size: number;
  /** Absent: not a text. */
  readonly text?: string;
  readonly isCut: boolean;
}

export interface ApiDiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  readonly oldLine?: number;
  readonly newLine?: number;
}

export interface ApiFileDiff {
  readonly path: string;
  readonly change: "added" | "removed" | "changed";
  /** Absent: not a text, or too large to compare. */
  readonly hunks?: readonly { readonly lines: readonly ApiDiffLine[] }[];
  /** Those on lines that are new. */
  readonly findings: readonly ApiFinding[];
}

/** `GET /v1/catalog/skills/{address}/diff?from=&to=`. */
export interface ApiDiff {
  readonly from: string;
  readonly to: string;
  readonly files: readonly ApiFileDiff[];
}

/** `POST /v1/catalog/plan`: what a run would do. */
export type ApiPlan =
  | {
      readonly ok: true;
      readonly skill: string;
      readonly trust: string;
      readonly trustReason: string;
      readonly model: string;
      readonly tools: readonly {
        readonly name: string;
        readonly decision: "allow" | "ask" | "deny";
        readonly rule: string;
      }[];
      readonly hooks: readonly string[];
      readonly env: readonly string[];
      readonly capabilities: readonly string[];
      readonly backend: string;
      readonly declared: JsonObject;
      readonly granted: JsonObject;
      readonly limits: JsonObject;
      readonly system: string;
      readonly message: string;
      readonly diagnostics: readonly ApiDiagnostic[];
    }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly hint?: string };

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
