/** The normalised configuration: camelCase, defaults filled in, paths absolute. Made by `load-config.ts`. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Scope } from "../skill/scope.ts";
import type { OutputFilterMode } from "./run-fields.ts";
import type { ScanSeverity } from "./scan-fields.ts";

export const PRESETS = ["ash", "agent-harness", "mamba", "weakincentives"] as const;
export type PresetName = (typeof PRESETS)[number];

export const MODEL_PROVIDERS = [
  "anthropic",
  "openai",
  "google",
  "openai-compatible",
  "replay",
  "scripted",
] as const;
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

export type ToolAnswer = "allow" | "ask" | "deny";
export type DefaultExecution = "auto" | "inline" | "isolated";

/** A variable of one skill: the value itself, or where it is to be fetched when a run needs it. */
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

/** An MCP server: a program that is started, or one that listens at an address. */
export type McpServer = { readonly command: readonly string[] } | { readonly url: string };

export interface CapabilityProviderConfig {
  readonly enabled?: boolean;
  readonly namespace?: string;
  readonly command?: readonly string[];
  /** One process answers many calls. */
  readonly persistent?: boolean;
  readonly mcp?: McpServer;
  readonly timeoutSeconds?: number;
  /** UPPER_CASE keys: variables of its process. */
  readonly env?: Readonly<Record<string, EnvironmentValue>>;
}

/** `[capabilities]` */
export interface CapabilitiesConfig {
  readonly providers: Readonly<Record<string, CapabilityProviderConfig>>;
  /** Calls a minute, of one user and one capability. */
  readonly rateLimit: number;
}

/** `[mcp.servers.<label>]` */
export interface McpServerConfig {
  readonly enabled?: boolean;
  readonly command?: readonly string[];
  readonly url?: string;
  /** Sent to a server at an address. */
  readonly bearer?: EnvironmentValue;
  readonly timeoutSeconds?: number;
  /** UPPER_CASE keys: variables of its process. */
  readonly env?: Readonly<Record<string, EnvironmentValue>>;
}

/** `[mcp]` */
export interface McpConfig {
  /** By the label that is the user's name for the server. */
  readonly servers: Readonly<Record<string, McpServerConfig>>;
}

/** `[skills.<name>]` */
export interface SkillSettings {
  readonly enabled?: boolean;
  readonly model?: string;
  readonly allowChatIds?: readonly string[];
  /** UPPER_CASE keys: the environment of this skill alone. */
  readonly env: Readonly<Record<string, EnvironmentValue>>;
  readonly capabilityProvider?: CapabilityProviderConfig;
  /** Granted to this skill alone, beside `[sandbox]`. */
  readonly sandbox?: Partial<Reach>;
}

/** A skill that is to be installed, and the name that it then has. */
export interface PluginEntry {
  /** An address as `metier install` takes it; of a local folder its absolute path. */
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
  /** Names and globs; empty = all. */
  readonly allow: readonly string[];
  /** Further allow lists, from an ungranted project file and the policy: a skill must match each of them too. */
  readonly allowWithin: readonly (readonly string[])[];
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
  /** Whether commands in the text of a trusted skill run. */
  readonly dynamicContext: boolean;
  readonly secretEnv: "allow" | "block";
  readonly scriptTimeoutMs: number;
  /** Directories that replace the preset's or default ones; relative ones are below each project folder. */
  readonly projectDirs?: readonly string[];
  readonly userDir?: string;
  readonly pluginsDir?: string;
  readonly plugins: readonly PluginEntry[];
  readonly defaults: { readonly allowChatIds: readonly string[] };
  readonly settings: Readonly<Record<string, SkillSettings>>;
}

/** `[models.<alias>]` */
export interface ModelConfig {
  readonly provider?: ModelProvider;
  readonly model?: string;
  readonly apiKeyEnv?: string;
  readonly apiKey?: string;
  readonly apiKeyCommand?: readonly string[];
  readonly baseUrl?: string;
  /** Per million tokens, in a currency of the user's choosing. */
  readonly inputPrice?: number;
  readonly outputPrice?: number;
}

export interface Config {
  readonly skills: SkillsConfig;
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly capabilities: CapabilitiesConfig;
  readonly mcp: McpConfig;
  /** Tool name or pattern → answer. */
  readonly tools: Readonly<Record<string, ToolAnswer>>;
  /** The policy's own answers: for every call the stricter of these and of `tools` holds, however specific. */
  readonly policyTools: Readonly<Record<string, ToolAnswer>>;
  readonly sandbox: SandboxConfig;
  readonly scan: ScanConfig;
  readonly environments: EnvironmentsConfig;
  readonly runs: RunsConfig;
  /** The policy's own limits: what a skill or a call asks for over `runs` ends here. */
  readonly policyRuns: Partial<RunsConfig>;
  /** The policy's own `skills.script-timeout-ms`: what a call asks for over it ends here. */
  readonly policyScriptTimeoutMs?: number;
}

/** What the user lets skills reach: `network` domains, `read` and `write` absolute paths. */
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
  /** From which severity of finding on an untrusted skill is blocked. */
  readonly block: ScanSeverity;
  /** Ids of rules that are not applied. */
  readonly ignore: readonly string[];
  /** Files of accepted findings, absolute. */
  readonly baseline: readonly string[];
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
  readonly maxOutputBytes: number;
  readonly maxDepth: number;
  readonly outputFilter: OutputFilterMode;
}

/** Lowest first. `policy` stands last and can only tighten. */
export type Layer = "default" | "preset" | "user" | "project" | "environment" | "option" | "policy";

export interface Origin {
  readonly layer: Layer;
  /** The file, or the environment variable's name, or the flag. */
  readonly where?: string;
  readonly line?: number;
}

/** Where an effective value came from, and what it replaced. Secret values are already redacted here. */
export interface ValueOrigin extends Origin {
  readonly value: unknown;
  /** It did not replace the layer below but was combined with it, to the stricter side. */
  readonly tightens: boolean;
  /** The layers below that set it too, the one it replaced last first. */
  readonly overridden: readonly { readonly origin: Origin; readonly value: unknown }[];
}

export interface LayerReport {
  readonly layer: Layer;
  readonly where: string;
  readonly status: "loaded" | "absent" | "broken" | "partly-ignored" | "ignored";
}

export interface LoadedConfig {
  readonly config: Config;
  /** By dotted kebab-case path, in the order of `config-fields.ts`. */
  readonly origins: ReadonlyMap<string, ValueOrigin>;
  /** Lowest first. */
  readonly layers: readonly LayerReport[];
  readonly diagnostics: readonly Diagnostic[];
  /** The project file that was read; `sha256` (hex) is what a grant binds to. */
  readonly projectFile?: { readonly path: string; readonly sha256: string; readonly granted: boolean };
}
