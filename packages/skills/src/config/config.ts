/** The normalized configuration: camelCase, defaults filled in, absolute paths. Made by `load-config.ts`. */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Scope } from "../skill/skill-name.ts";

export const PRESETS = ["ash", "agent-harness", "mamba", "weakincentives"] as const;
/** Another system whose directories, precedence and config files are used. */
export type PresetName = (typeof PRESETS)[number];

export const MODEL_PROVIDERS = [
  "anthropic",
  "openai",
  "google",
  "openai-compatible",
  "ollama",
  "gguf",
  "claude-program",
  "replay",
  "scripted",
] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** Severities of scan findings, mildest first. `block`: nothing harmless looks like this. */
export const SCAN_SEVERITIES = ["info", "low", "medium", "high", "block"] as const;
/** The severity of a scan finding, mildest first. */
export type ScanSeverity = (typeof SCAN_SEVERITIES)[number];

export const OUTPUT_FILTERS = ["off", "mark", "block"] as const;
export type OutputFilterMode = (typeof OUTPUT_FILTERS)[number];

export type ToolAnswer = "allow" | "ask" | "deny";
export type DefaultExecution = "auto" | "inline" | "isolated";

/** A variable of one skill: the value, or where to fetch it when a run needs it. */
export type EnvironmentValue = { readonly secret: boolean } & (
  | { readonly value: string }
  | { readonly command: readonly string[] }
  | { readonly keychain: KeychainEntry }
);

/** Written `service/account`. */
export interface KeychainEntry {
  readonly service: string;
  readonly account: string;
}

/** An MCP server: a program to start, or one that listens at a URL. */
export type McpServer = { readonly command: readonly string[] } | { readonly url: string };

export interface CapabilityProviderConfig {
  readonly enabled?: boolean;
  readonly namespace?: string;
  readonly command?: readonly string[];
  /** One process answers many calls. */
  readonly persistent?: boolean;
  readonly mcp?: McpServer;
  readonly timeoutSeconds?: number;
  /** UPPER_CASE keys: variables for its process. */
  readonly env?: Readonly<Record<string, EnvironmentValue>>;
}

/** `[capabilities]` */
export interface CapabilitiesConfig {
  readonly providers: Readonly<Record<string, CapabilityProviderConfig>>;
  /** Calls per minute, for one user and one capability. */
  readonly rateLimit: number;
}

/** `[mcp.servers.<label>]` */
export interface McpServerConfig {
  readonly enabled?: boolean;
  readonly command?: readonly string[];
  readonly url?: string;
  /** Sent to a server with a URL. */
  readonly bearer?: EnvironmentValue;
  readonly timeoutSeconds?: number;
  /** UPPER_CASE keys: variables for its process. */
  readonly env?: Readonly<Record<string, EnvironmentValue>>;
}

/** `[mcp]` */
export interface McpConfig {
  /** By the user's label for the server. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
}

/** `[skills.<name>]` */
export interface SkillConfig {
  readonly enabled?: boolean;
  readonly model?: string;
  readonly allowChatIds?: readonly string[];
  /** UPPER_CASE keys: the environment of only this skill. */
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly capabilityProvider?: CapabilityProviderConfig;
  /** Granted only to this skill, in addition to `[sandbox]`. */
  readonly sandbox?: Partial<Reach>;
}

/** A skill to install, and its name then. */
export interface PluginEntry {
  /** An address for `metier install`; for a local folder its absolute path. */
  readonly url: string;
  readonly ref?: string | undefined;
  readonly name?: string | undefined;
  readonly enabled: boolean;
  readonly installedAt?: string | undefined;
}

export interface SkillsConfig {
  readonly paths: readonly string[];
  readonly trustedPaths: readonly string[];
  readonly preset?: PresetName;
  readonly disabled: readonly string[];
  /** Names and globs; empty = all. */
  readonly allow: readonly string[];
  /** More allow lists, from an ungranted project file and the policy: a skill must match each of them too. */
  readonly allowWithin: readonly (readonly string[])[];
  readonly deny: readonly string[];
  /** Scopes, lowest precedence first. */
  readonly order: readonly Scope[];
  readonly autoDiscover: boolean;
  /** `undefined`: on in the command line, off in the library. */
  readonly bundled?: boolean;
  readonly disabledBundled: readonly string[];
  readonly enabledBundled: readonly string[];
  /** Whether a skill inside another is a separate skill. */
  readonly nested: boolean;
  readonly namespaceTools: boolean;
  readonly defaultExecution: DefaultExecution;
  /** Whether commands in a trusted skill's text run. */
  readonly dynamicContext: boolean;
  readonly secretEnv: "allow" | "block";
  readonly scriptTimeoutMs: number;
  /** Directories that replace the preset's or default ones; relative ones apply to each project folder. */
  readonly projectDirs?: readonly string[];
  readonly userDir?: string;
  readonly pluginsDir?: string;
  readonly plugins: readonly PluginEntry[];
  readonly defaults: { readonly allowChatIds: readonly string[] };
  readonly settings: Readonly<Record<string, SkillConfig>>;
}

/** `[models.<alias>]` */
export interface ModelConfig {
  readonly provider?: ModelProvider;
  readonly model?: string;
  readonly apiKeyEnv?: string;
  readonly apiKey?: string;
  readonly apiKeyCommand?: readonly string[];
  readonly baseUrl?: string;
  /** Per million tokens, in a currency that the user chooses. */
  readonly inputPrice?: number;
  readonly outputPrice?: number;
  /** Fewer tools and shorter descriptions; on by default for `ollama` and `gguf`. */
  readonly lean?: boolean;
  /** For `ollama` and `gguf`: the largest context to request. */
  readonly contextTokens?: number;
  /** For `gguf`: the file, absolute or relative to `~`. */
  readonly path?: string;
  /** For `gguf`: the folder of `node-llama-cpp`, absolute, if it is not next to Metier. */
  readonly package?: string;
  /** For `claude-program`: the absolute path. */
  readonly program?: string;
  /** For `claude-program`: the day the user accepted its vendor's terms. */
  readonly acceptedTerms?: string;
}

/** The effective configuration: all layers merged, defaults filled in, absolute paths. */
export interface Config {
  /** `[skills]`: where skills are found, which are allowed, and their settings. */
  readonly skills: SkillsConfig;
  /** `[models]`: models by alias. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  /** `[capabilities]`: who performs operations for skills, and how often. */
  readonly capabilities: CapabilitiesConfig;
  /** `[mcp]`: MCP servers that offer skills. */
  readonly mcp: McpConfig;
  /** Tool name or pattern → answer. */
  readonly tools: Readonly<Record<string, ToolAnswer>>;
  /** The policy's own answers: for every call, the stricter of these and `tools` applies, however specific. */
  readonly policyTools: Readonly<Record<string, ToolAnswer>>;
  /** `[sandbox]`: what runs may reach and use. */
  readonly sandbox: SandboxConfig;
  /** `[scan]`: which findings block an untrusted skill. */
  readonly scan: ScanConfig;
  /** `[install]`: where skills may be installed from. */
  readonly install: InstallConfig;
  /** `[environments]`: whether to install a skill's Python and Node packages, and from where. */
  readonly environments: EnvironmentsConfig;
  /** `[runs]`: the limits of a run. */
  readonly runs: RunsConfig;
  /** The policy's own limits, which cap what a skill or a call asks for beyond `runs`. */
  readonly policyRuns: Partial<RunsConfig>;
  /** The policy's own `skills.script-timeout-ms`, which caps what a call asks for. */
  readonly policyScriptTimeoutMs?: number;
  /** Invalid values that restrict runs, one sentence each: no run starts until they are fixed. */
  readonly wrongLimits?: readonly string[];
}

/** What skills may reach: `network` domains, `read` and `write` absolute paths. */
export interface Reach {
  readonly network: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** `[sandbox]` */
export interface SandboxConfig extends Reach {
  readonly backend: "auto" | "bubblewrap" | "sandbox-runtime" | "just-bash" | "none";
  readonly programs: readonly string[];
  readonly memoryMb: number;
  readonly processes: number;
  readonly workMb: number;
}

/** `[scan]` */
export interface ScanConfig {
  /** The lowest severity that blocks an untrusted skill. */
  readonly block: ScanSeverity;
  /** Ids of rules to skip. */
  readonly ignore: readonly string[];
  /** Files of accepted findings, absolute. */
  readonly baseline: readonly string[];
}

/** `[install]` */
export interface InstallConfig {
  /** Private network hosts that skills may be installed from. */
  readonly privateHosts: readonly string[];
}

/** `[environments]` */
export interface EnvironmentsConfig {
  readonly build: boolean;
  readonly pythonIndex?: string;
  readonly nodeRegistry?: string;
}

/** `[runs]` */
export interface RunsConfig {
  readonly maxIterations: number;
  readonly timeoutSeconds: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxCostPerDay?: number;
  readonly maxOutputBytes: number;
  readonly maxDepth: number;
  readonly outputFilter: OutputFilterMode;
}

/** Lowest first. `policy` comes last and can only tighten. */
export type Layer = "default" | "preset" | "user" | "project" | "environment" | "option" | "policy";

/** Where a config value was set. */
export interface Origin {
  /** The layer that set it. */
  readonly layer: Layer;
  /** The file, or the environment variable's name, or the flag. */
  readonly where?: string;
  /** 1-based line in the file; absent if unknown or there is no file. */
  readonly line?: number | undefined;
}

/** Where an effective value came from, and what it replaced. Secret values are already redacted. */
export interface ValueOrigin extends Origin {
  readonly value: unknown;
  /** It did not replace the lower layer but was combined with it, on the stricter side. */
  readonly tightens: boolean;
  /** The lower layers that also set it, the most recently replaced first. */
  readonly overridden: readonly { readonly origin: Origin; readonly value: unknown }[];
}

export interface LayerReport {
  readonly layer: Layer;
  readonly where: string;
  readonly status: "loaded" | "absent" | "broken" | "partly-ignored" | "ignored";
}

export interface ProjectFile {
  readonly path: string;
  /** Hex; what a grant is bound to. */
  readonly sha256: string;
  readonly granted: boolean;
  /** What a grant would enable and is ignored without one, as `key = value`; secrets are not shown. */
  readonly ungranted?: readonly string[] | undefined;
}

/** The effective configuration, with the origin of every value. */
export interface LoadedConfig {
  /** The values, merged from all layers. */
  readonly config: Config;
  /** By dotted kebab-case path, in the order of `config-fields.ts`. */
  readonly origins: ReadonlyMap<string, ValueOrigin>;
  /** Lowest first. */
  readonly layers: readonly LayerReport[];
  /** Problems in config files, environment variables and options. */
  readonly diagnostics: readonly Diagnostic[];
  /** The project file that was read. */
  readonly projectFile?: ProjectFile | undefined;
}
