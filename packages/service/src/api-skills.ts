/** What the API answers about skills: the catalog, one skill with its files and versions, and what a run of it would do. */
import type { Json, JsonObject, JsonSchema } from "@metier/base/json";
import type { ApiDiagnostic, ApiList } from "./api.ts";

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
