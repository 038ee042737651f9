/**
 * A skill's checked metadata: the union of the dialects with one spelling each, and what is known about one frontmatter
 * field. `manifest-fields.ts` has the fields; only `validate/build-manifest.ts` makes a manifest.
 */
import type { Json } from "@metier/base/json";
import { spellingsOf } from "@metier/base/text";

/** What the machine must have before a skill is offered. Empty lists require nothing. */
export interface SkillRequirements {
  /** Commands that must all be on PATH. */
  readonly bins: readonly string[];
  /** Commands of which at least one must be on PATH. */
  readonly anyBins: readonly string[];
  /** Environment variables that must be set. */
  readonly env: readonly string[];
  /** Supported operating systems, as in `process.platform`; empty = any. */
  readonly os: readonly string[];
}

/**
 * The frontmatter of a skill: checked, in one spelling, with defaults. An optional field is absent when the file
 * doesn't set it; a list is empty.
 *
 * @example
 * ```ts
 * const manifest: SkillManifest = metier.require("deploy").manifest;
 * console.log(manifest.version, manifest.tags, manifest.requires.bins);
 * ```
 */
export interface SkillManifest {
  /** The skill's name in the catalog; the folder's name if the file has none. */
  readonly name: string;
  /** The name shown to people: `display-name`, or the name as written if it had to be normalized. */
  readonly displayName?: string;
  /** What it does and when to use it; the `lenient` profile takes it from the body if the file has none. */
  readonly description: string;
  /** The license's name, or the file that contains it. */
  readonly license?: string;
  /** What the skill needs, in words: products, systems, packages, network. */
  readonly compatibility?: string;
  /** More facts as in the file; numbers and booleans are text. */
  readonly metadata: Readonly<Record<string, Json>>;
  /** The skill's version, from `metadata.version` or `version`. */
  readonly version?: string;
  /** Words for finding the skill, from `metadata.tags` or `tags`. */
  readonly tags: readonly string[];
  /** Who wrote the skill. */
  readonly authors: readonly string[];
  /** Why the skill exists. */
  readonly rationale?: string;
  /** When a model should use the skill, in addition to the description. */
  readonly whenToUse?: string;

  /** `undefined`: not declared. An empty list also means "all of the caller's tools", never "none". */
  readonly allowedTools?: readonly string[];
  /** Patterns of tools the skill may never use. */
  readonly disallowedTools: readonly string[];
  /** Tools that must exist before a run starts. */
  readonly requiredTools: readonly string[];

  /** A model's name, or an alias from the config: `model`, otherwise `preferred-model`. */
  readonly model?: string;
  /** How much the model thinks: `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`; others are ignored. */
  readonly effort?: string;
  /** The most model calls a run may make. Default: the config's `runs.max-iterations`. */
  readonly maxIterations?: number;
  /** JSON Schema that an invocation's input must match. */
  readonly inputSchema?: Readonly<Record<string, Json>>;
  /** JSON Schema that a run's answer must match. */
  readonly outputSchema?: Readonly<Record<string, Json>>;
  /** `fork`: an isolated run. `inline`: its text goes into the caller's conversation. */
  readonly context?: "fork" | "inline";
  /** The named agent that runs the skill when it forks. */
  readonly agent?: string;
  /** Whether a forked run continues in the background of the conversation; read, but not used yet. */
  readonly background?: boolean;
  /** What to type after the skill's name, such as `[file]`. */
  readonly argumentHint?: string;
  /** Names of the arguments, in order; `$name` in the body is replaced by each. */
  readonly arguments: readonly string[];
  /** Whether models may not invoke the skill on their own. Default: `false`. */
  readonly disableModelInvocation: boolean;
  /** Whether users may invoke the skill directly. Default: `true`. */
  readonly userInvocable: boolean;

  /** Whether it is only for private chats, unless `chatTypes` names others. Default: `false`. */
  readonly sensitive: boolean;
  /** The chat types where it may be invoked, in lowercase; empty means any, unless it is `sensitive`. */
  readonly chatTypes: readonly string[];
  /** Names of the environment variables that its runs get from the config. */
  readonly env: readonly string[];
  /** Debian packages its runs need; install them with `metier setup`. */
  readonly packages: readonly string[];
  /** Operations the host performs for the skill, each as `namespace.name`. */
  readonly capabilities: readonly string[];
  /** What the machine must have before the skill is offered. */
  readonly requires: SkillRequirements;
  /** What its runs want to reach beyond their own folder: domains, and paths to read and write. */
  readonly sandbox?: {
    /** Hosts that commands may reach once granted. */
    readonly network: readonly string[];
    /** Paths that commands may read once granted. */
    readonly read: readonly string[];
    /** Paths that commands may write to once granted. */
    readonly write: readonly string[];
  };
  /** Off until the user enables it: `opt-in: true` or `default-enabled: false`. */
  readonly optIn: boolean;
  /** As written; `false` sets `optIn`. */
  readonly defaultEnabled?: boolean;

  /** Globs of the files the skill is for; read, but not used yet. */
  readonly paths: readonly string[];
  /** The shell for commands in the body. Default: `bash`, the only one supported. */
  readonly shell?: string;
  /** Commands to run around its own tool calls, by event: `pre-tool`, `post-tool` and `stop`. */
  readonly hooks?: Readonly<Record<string, Json>>;
  /** Tools it ships as code in its folder, each as `path/module:ExportName`. */
  readonly toolsets: readonly string[];
  /** What in a message suggests the skill: words, verbs and regular expressions. */
  readonly triggers?: {
    /** Words in a message. */
    readonly keywords: readonly string[];
    /** Verbs in a message, in any form. */
    readonly verbs: readonly string[];
    /** Regular expressions that a message matches. */
    readonly patterns: readonly string[];
  };
  /** A Claude Code field, kept as written. */
  readonly fallback?: Json;
}

/** The keys of the published specification; `clients.ts` says which clients know other fields. */
export const SPECIFICATION_KEYS: readonly string[] = [
  "name",
  "description",
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
];

/** How a string becomes a list: at spaces and commas, at commas, or not at all. */
export type Separator = "words" | "commas" | "none";

/** The manifest's properties whose type is exactly `T`, so that the table cannot disagree with the manifest. */
type PropertyOf<T> = {
  [K in keyof SkillManifest]-?: [NonNullable<SkillManifest[K]>, T] extends [T, NonNullable<SkillManifest[K]>]
    ? K
    : never;
}[keyof SkillManifest];

export type KebabCase<Text extends string> = string extends Text
  ? string
  : Text extends `${infer First}${infer Rest}`
    ? `${First extends Lowercase<First> ? First : `-${Lowercase<First>}`}${KebabCase<Rest>}`
    : "";

type FieldKind =
  /** One word or name; a list or map is a mistake. */
  | { readonly kind: "text"; readonly property: PropertyOf<string> }
  /** Text for people and models; a list or map written by mistake is converted to text. */
  | { readonly kind: "prose"; readonly property: PropertyOf<string>; readonly maxLength?: number }
  | { readonly kind: "boolean"; readonly property: PropertyOf<boolean> }
  /** A whole number of at least 1. */
  | { readonly kind: "count"; readonly property: PropertyOf<number> }
  | {
      readonly kind: "list";
      readonly property: PropertyOf<readonly string[]>;
      readonly separator: Separator;
      /** A line is as good as a list; otherwise a line is read, and reported. */
      readonly takesLine?: true;
    }
  /** Tool patterns: a line or a list. */
  | { readonly kind: "tools"; readonly property: PropertyOf<readonly string[]> }
  | { readonly kind: "map"; readonly property: PropertyOf<Readonly<Record<string, Json>>> }
  | {
      readonly kind: "choice";
      readonly property: "context";
      readonly choices: readonly NonNullable<SkillManifest["context"]>[];
    }
  /** A map of lists. */
  | {
      readonly kind: "lists";
      readonly property: "requires" | "sandbox" | "triggers";
      readonly keys: Readonly<Record<string, string>>;
      /** Where a plain string or list goes if the field is not a map. */
      readonly plain?: string;
    }
  /** A map that restricts who may invoke the skill; read by its own rule. */
  | {
      readonly kind: "access";
      readonly property: "chatTypes";
      readonly keys: Readonly<Record<string, string>>;
    }
  | { readonly kind: "json"; readonly property: "fallback" };

export type ManifestField = FieldKind & {
  /** Kebab-case. */
  readonly name: string;
  readonly description: string;
  /** Other names for the same field. */
  readonly aliases?: readonly string[];
  /** Read only if that field is absent. */
  readonly fallbackFor?: string;
  /** Where it belongs, if it is widely written at the top level but is not a field. */
  readonly belongsTo?: string;
  /** The stage that uses it in this version; absent: read, but not used yet. */
  readonly honouredBy?: "catalog" | "find" | "invoke" | "run" | undefined;
};

export function isSpecField(field: ManifestField): boolean {
  return SPECIFICATION_KEYS.includes(field.name);
}

/** Kebab-case first. */
export function acceptedSpellings(field: ManifestField): readonly string[] {
  return [field.name, ...(field.aliases ?? [])].flatMap(spellingsOf);
}

/** A manifest under another name: what a lock calls an installed skill. Its own name stays for display. */
export function withAlias(manifest: SkillManifest, alias: string | undefined): SkillManifest {
  if (alias === undefined || alias === manifest.name) return manifest;
  return { ...manifest, name: alias, displayName: manifest.displayName ?? manifest.name };
}
