/**
 * The checked metadata of a skill: the union of the dialects, one spelling each.
 * Made by `validate/build-manifest.ts` from the table in `manifest-fields.ts`; nothing else makes one.
 */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface SkillRequirements {
  /** Commands that must all be on PATH. */
  readonly bins: readonly string[];
  /** Commands of which one must be on PATH. */
  readonly anyBins: readonly string[];
  /** Environment variables that must be set. */
  readonly env: readonly string[];
  /** Operating systems it runs on, as `process.platform` says them; empty = any. */
  readonly os: readonly string[];
}

export interface SkillManifest {
  readonly name: string;
  /** How people see the name: `display-name`, or the name as written when it had to be normalised. */
  readonly displayName?: string;
  readonly description: string;
  readonly license?: string;
  readonly compatibility?: string;
  readonly metadata: Readonly<Record<string, Json>>;
  readonly version?: string;
  readonly tags: readonly string[];
  readonly authors: readonly string[];
  readonly rationale?: string;
  readonly whenToUse?: string;

  /** `undefined`: not declared. An empty list also means "all the caller has", never "none". */
  readonly allowedTools?: readonly string[];
  readonly disallowedTools: readonly string[];
  readonly requiredTools: readonly string[];

  readonly model?: string;
  readonly effort?: string;
  readonly maxIterations?: number;
  readonly inputSchema?: Readonly<Record<string, Json>>;
  readonly context?: "fork" | "inline";
  readonly agent?: string;
  readonly background?: boolean;
  readonly argumentHint?: string;
  readonly arguments: readonly string[];
  readonly disableModelInvocation: boolean;
  readonly userInvocable: boolean;

  readonly sensitive: boolean;
  readonly chatTypes: readonly string[];
  readonly env: readonly string[];
  readonly packages: readonly string[];
  readonly capabilities: readonly string[];
  readonly requires: SkillRequirements;
  readonly sandbox?: {
    readonly network: readonly string[];
    readonly read: readonly string[];
    readonly write: readonly string[];
  };
  /** Off until the user enables it: `opt-in: true` or `default-enabled: false`. */
  readonly optIn: boolean;
  readonly defaultEnabled?: boolean;

  readonly paths: readonly string[];
  readonly shell?: string;
  readonly hooks?: Readonly<Record<string, Json>>;
  readonly toolsets: readonly string[];
  readonly triggers?: {
    readonly keywords: readonly string[];
    readonly verbs: readonly string[];
    readonly patterns: readonly string[];
  };
  /** A field of Claude Code that is kept as it was written. */
  readonly fallback?: Json;
}
