/** Response types about skills: the catalog, one skill with its files and versions, and a preview of its run. */
import type { Json, JsonObject, JsonSchema } from "@metier/base/json";
import type { ApiDiagnostic, ApiList } from "./api.ts";

/** One skill of the catalog, whatever its status. */
export interface ApiCatalogSkill {
  /** `scope:name`: finds it even if another skill with its name hides it. */
  readonly address: string;
  readonly name: string;
  readonly description: string;
  readonly scope: string;
  readonly source: "server" | "upload";
  readonly status: "enabled" | "disabled" | "unavailable" | "shadowed" | "invalid";
  /** Why it has that status; absent if enabled. */
  readonly reason?: string;
  readonly trust: "trusted" | "untrusted";
  readonly trustReason: string;
  readonly isForUsers: boolean;
  readonly isForModels: boolean;
  /** Approximate tokens of its line in the listing. */
  readonly listingTokens: number;
  /** Approximate tokens of its instructions. */
  readonly bodyTokens: number;
  readonly errors: number;
  readonly warnings: number;
  readonly tags: readonly string[];
}

/** `GET /v1/catalog`. */
export interface ApiCatalog extends ApiList<ApiCatalogSkill> {
  /** Problems outside of any skill: sources and configuration. */
  readonly diagnostics: readonly ApiDiagnostic[];
}

/** Why a skill was found: one word of the request. */
interface ApiFoundWord {
  readonly word: string;
  /** Where it appears: `name`, `description`, `tags`, `body`, … */
  readonly fields: readonly string[];
  /** Its share of the score, 0 to 1. */
  readonly share: number;
}

export interface ApiHit {
  readonly name: string;
  readonly description: string;
  readonly score: number;
  readonly words: readonly ApiFoundWord[];
  /** Words of the request that this skill lacks. */
  readonly missing: readonly string[];
}

/** `GET /v1/catalog/find?q=`. */
export interface ApiFind extends ApiList<ApiHit> {
  /** The normalized search words. */
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

/** A manifest field as written, and how it is used. */
export interface ApiManifestField {
  readonly field: string;
  /** The effective value: after checks and defaults. */
  readonly value: Json;
  /** `given`: as written. `default`: not written. `ignored`: not used. The others are findings. */
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

/** How another program treats the skill. */
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
  /** The addresses of skills with the same name that this one hides, and of the one that hides it. */
  readonly shadows: readonly string[];
  readonly shadowedBy?: string;
  readonly capabilities: readonly { readonly id: string; readonly provider?: string }[];
  readonly inputSchema?: JsonSchema;
  /** Names of positional arguments, if declared. */
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
  /** Absent: not text. */
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
  /** Absent: not text, or too large to compare. */
  readonly hunks?: readonly { readonly lines: readonly ApiDiffLine[] }[];
  /** Findings on new lines. */
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
