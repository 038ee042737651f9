/** The normalised configuration: camelCase, defaults filled in, paths absolute. Made by `load-config.ts`. */
import type { Scope } from "../skill/scope.ts";

export const PRESETS = ["ash", "agent-harness", "mamba", "weakincentives"] as const;
export type PresetName = (typeof PRESETS)[number];

export type ToolAnswer = "allow" | "ask" | "deny";
export type DefaultExecution = "auto" | "inline" | "isolated";

export interface EnvironmentValue {
  readonly value: string;
  readonly secret: boolean;
}

export interface CapabilityProviderConfig {
  readonly enabled?: boolean;
  readonly namespace?: string;
  readonly command?: readonly string[];
  readonly timeoutSeconds?: number;
}

/** `[skills.<name>]` */
export interface SkillSettings {
  readonly enabled?: boolean;
  readonly model?: string;
  readonly allowChatIds?: readonly string[];
  /** UPPER_CASE keys: the environment of this skill alone. */
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly capabilityProvider?: CapabilityProviderConfig;
}

export interface PluginEntry {
  readonly url: string;
  readonly ref?: string;
  readonly name?: string;
  readonly enabled: boolean;
  readonly installedAt?: string;
}

export interface SkillsConfig {
  readonly paths: readonly string[];
  readonly trustedPaths: readonly string[];
  readonly preset?: PresetName;
  readonly disabled: readonly string[];
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Scopes, lowest precedence first. */
  readonly order: readonly Scope[];
  readonly autoDiscover: boolean;
  /** `undefined`: the command line has bundled skills, the library has not. */
  readonly bundled?: boolean;
  readonly disabledBundled: readonly string[];
  readonly enabledBundled: readonly string[];
  /** Whether a skill below another is a skill of its own. */
  readonly nested: boolean;
  readonly namespaceTools: boolean;
  readonly defaultExecution: DefaultExecution;
  readonly scriptTimeoutMs: number;
  /** Directories that replace the preset's or default ones. */
  readonly projectDirs?: readonly string[];
  readonly userDir?: string;
  readonly pluginsDir?: string;
  readonly plugins: readonly PluginEntry[];
  readonly defaults: { readonly allowChatIds: readonly string[] };
  readonly settings: Readonly<Record<string, SkillSettings>>;
}

export interface ModelConfig {
  readonly provider?: string;
  readonly model?: string;
  readonly apiKeyEnv?: string;
  readonly apiKey?: string;
  readonly apiKeyCommand?: readonly string[];
  readonly baseUrl?: string;
}

export interface Config {
  readonly skills: SkillsConfig;
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly capabilities: { readonly providers: Readonly<Record<string, CapabilityProviderConfig>> };
  /** Tool name or pattern → answer. */
  readonly tools: Readonly<Record<string, ToolAnswer>>;
  readonly sandbox: {
    readonly backend: "auto" | "bubblewrap" | "sandbox-runtime" | "just-bash" | "none";
    readonly network: readonly string[];
    readonly programs: readonly string[];
  };
}

/** Lowest first. `policy` stands last and can only tighten. */
export type Layer = "default" | "preset" | "user" | "project" | "environment" | "option" | "policy";

export interface Origin {
  readonly layer: Layer;
  /** The file, or the environment variable's name, or the flag. */
  readonly where?: string;
  readonly line?: number;
}
