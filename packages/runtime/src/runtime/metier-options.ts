/**
 * The options of `createMetier`; everything has a default. A program may be JavaScript or mistyped, so `checkOptions`
 * checks these types.
 */
import { statSync } from "node:fs";
import { LOG_LEVELS, type Logger } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { isJsonObject } from "@metier/base/json";
import type { Environment } from "@metier/base/programs";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { showNames, showValue } from "@metier/base/text";
import type { CapabilityProvider, ConfirmMutation } from "@metier/capabilities";
import { checkProgramTools, type GivenAgent, type GivenTool, type SearchProvider } from "@metier/run";
import type { RunEvent, RunStore, RunsOptions } from "@metier/run/events";
import type { GivenModels } from "@metier/run/model";
import {
  checkSkillSources,
  type GivenSkill,
  isCapabilityId,
  kindOf,
  PROFILES,
  type Profile,
  type SkillSource,
} from "@metier/skills";
import { PRESETS, type PresetName } from "@metier/skills/config";
import type { DurabilityOptions } from "./durable-runs.ts";

/** What the embedding program gives to runs. */
export interface RunningOptions extends DurabilityOptions {
  /** Models by alias: AI SDK models, or names; `default` is used if nothing else is named. */
  readonly models?: GivenModels;
  /** More tools for runs: from `defineTool`, or plain objects. They may return anything. */
  readonly tools?: readonly GivenTool[];
  /** Agents for skills with `context: fork` and `agent`. */
  readonly agents?: readonly GivenAgent[];
  /** Adds the tool `web_search` to runs. */
  readonly search?: SearchProvider;
  /** Receives every event of every run, chat, script and nested run. It may be async; its errors end nothing. */
  readonly onEvent?: (event: RunEvent) => unknown;
  /** Where Metier logs what an operator needs to know: pino, `console`, or an object with the same four functions. */
  readonly logger?: Logger;
  /** Where runs are kept, and how long. Default: `{ store: "files", keepDays: 30 }`. */
  readonly runs?: RunsOptions;
  /**
   * Whether runs are for people other than this machine's user, as in a server. Models that use the user's own program,
   * such as `claude-program`, are then refused. Default: no.
   */
  readonly service?: boolean;
}

/** What the embedding program provides for capabilities: providers, and whom to ask before a change. */
export interface CapabilityOptions {
  /** The program's providers, in addition to the config's; their namespaces belong to them alone. */
  readonly providers?: readonly CapabilityProvider[];
  /** Asked before a change if a call or run has nobody to ask. Without it, nothing is changed. */
  readonly confirm?: ConfirmMutation;
}

/**
 * Options of `createMetier`; all have a default.
 *
 * @example
 * ```ts
 * const options: MetierOptions = {
 *   cwd: "/srv/project", paths: ["/srv/skills"], trustedPaths: ["/srv/skills"],
 *   models: { default: "anthropic/claude-sonnet-5-5" }, deny: ["deploy-*"],
 * };
 * ```
 */
export interface MetierOptions extends RunningOptions {
  /** Operations on sensitive systems for a user, without credentials in a run. */
  readonly capabilities?: CapabilityOptions;
  /**
   * The folder runs see and work on, and where project skills are searched. Without it, runs have no working directory,
   * only their own folders, and project skills are searched from the process's working directory.
   */
  readonly cwd?: string;
  /** Replaces the OS home everywhere. Default: `METIER_HOME` from the environment, or the OS home. */
  readonly home?: string;
  /** A config file that replaces the project's. */
  readonly configFile?: string;
  /** Config values, as in a config file; they override all files. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Uses the directories, order and config files of another system. */
  readonly preset?: PresetName;
  /** Custom sources: skill folders, skill files or folders of skills. Untrusted unless promoted. */
  readonly paths?: readonly string[];
  /** Paths whose skills are trusted, including everything below them. */
  readonly trustedPaths?: readonly string[];
  /** The program's own skills, as objects or as folders of skills; it vouches for them. */
  readonly integrations?: readonly (string | GivenSkill)[];
  /** Skills from anywhere: a database, a bucket, a service. Untrusted unless the source says otherwise. */
  readonly sources?: readonly SkillSource[];
  /**
   * Whether to offer the skills that come with Metier; `unless-disabled`: unless `skills.bundled` is `false`. Default:
   * the config's `skills.bundled`, which is off.
   */
  readonly bundled?: boolean | "unless-disabled";
  /** Globs over names: only these skills may be used. Default: all. */
  readonly allow?: readonly string[];
  /** Globs over names: these skills may not be used. Overrides `allow`. */
  readonly deny?: readonly string[];
  /** How strict loading is. Default: `standard`. */
  readonly profile?: Profile;
  /**
   * What happens if two skills in one scope have the same name: `throw` a `SkillConflictError`, or `report` a
   * diagnostic and use the first. Default: `throw` with `profile: "strict"`, else `report`.
   */
  readonly conflicts?: "throw" | "report";
  /**
   * `vouch` (default): the program vouches for the project and user folders it opens. `grants`: they are untrusted
   * until the user grants them, as on the command line.
   */
  readonly trust?: "vouch" | "grants";
  /**
   * `false`: nothing is searched until `discover` or `reload` is called. `true`: the standard directories are searched
   * even if the config's `skills.auto-discover` is off. Default: the config's setting, which is on.
   */
  readonly autoDiscover?: boolean;
  /** Whether to keep an index of unchanged files under the home folder. Default: yes. */
  readonly index?: boolean;
  /**
   * Default: the process's environment. Without `PATH`, it gets the process's, which is needed to find sandbox and
   * shell.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

interface OptionType {
  /** What is allowed, as messages say it. */
  readonly allowed: string;
  accepts(value: unknown): boolean;
}

const BOOLEAN: OptionType = {
  allowed: "`true` or `false`",
  accepts: (value) => typeof value === "boolean",
};
const PATH: OptionType = { allowed: "a path", accepts: isText };
const FOLDER: OptionType = {
  allowed: "the path of an existing folder",
  accepts: (value) => isText(value) && isFolder(value),
};
const TEXTS: OptionType = {
  allowed: "a list of strings",
  accepts: (value) => Array.isArray(value) && value.every(isText),
};
const FUNCTION: OptionType = { allowed: "a function", accepts: (value) => typeof value === "function" };
const LOGGER: OptionType = {
  allowed: "an object with the functions `debug`, `info`, `warn` and `error`",
  accepts: (value) =>
    typeof value === "object" &&
    value !== null &&
    LOG_LEVELS.every((level) => typeof (value as Unchecked)[level] === "function"),
};
const OBJECT: OptionType = { allowed: "an object", accepts: isJsonObject };

/** Its items become skills, tools or diagnostics. */
function listOf(what: string): OptionType {
  return { allowed: `a list of ${what}`, accepts: Array.isArray };
}

function oneOf(...values: readonly (string | boolean)[]): OptionType {
  return {
    allowed: `one of ${values.map((value) => `\`${value}\``).join(", ")}`,
    accepts: (value) => values.some((allowed) => allowed === value),
  };
}

const OPTIONS: Readonly<Record<keyof MetierOptions, OptionType>> = {
  models: OBJECT,
  tools: listOf("tools"),
  agents: listOf("agents"),
  search: OBJECT,
  onEvent: FUNCTION,
  logger: LOGGER,
  runs: OBJECT,
  service: BOOLEAN,
  journal: OBJECT,
  engine: OBJECT,
  snapshots: OBJECT,
  capabilities: OBJECT,
  cwd: FOLDER,
  home: PATH,
  configFile: PATH,
  config: OBJECT,
  preset: oneOf(...PRESETS),
  paths: TEXTS,
  trustedPaths: TEXTS,
  integrations: listOf("folders and objects"),
  sources: listOf("sources"),
  bundled: oneOf(true, false, "unless-disabled"),
  allow: TEXTS,
  deny: TEXTS,
  profile: oneOf(...PROFILES),
  conflicts: oneOf("throw", "report"),
  trust: oneOf("vouch", "grants"),
  autoDiscover: BOOLEAN,
  index: BOOLEAN,
  environment: OBJECT,
};

/** Throws `UsageError` for the first unknown or invalid option; `undefined` counts as not set. */
export function checkOptions(options: unknown): void {
  checkKeys("createMetier", options, OPTIONS);
  for (const [name, value] of Object.entries(options as object)) {
    const { allowed, accepts } = OPTIONS[name as keyof MetierOptions];
    if (value === undefined || accepts(value)) continue;
    const shown = typeof value === "string" ? showValue(value) : kindOf(value);
    throw new UsageError(`The option \`${name}\` is ${shown}; it must be ${allowed}.`);
  }
  const { tools = [], agents = [], capabilities = {}, sources = [], runs = {} } = options as MetierOptions;
  for (const agent of agents) checkKeys("createMetier({ agents })", agent ?? null, AGENT);
  checkSkillSources(sources);
  checkRunsOptions(runs);
  checkProgramTools(tools);
  checkCapabilityOptions(capabilities);
}

/** Without PATH, neither the sandbox nor a shell would be found, and nobody intends that by leaving it out. */
export function completeEnvironment(environment: Environment = process.env): Environment {
  const isFound = Object.keys(environment).some((name) => name.toUpperCase() === "PATH");
  return isFound ? environment : { ...environment, PATH: process.env.PATH ?? SYSTEM_PATH };
}

/** Where systems keep their programs, for a process started without PATH. */
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing or inaccessible: either way, nothing can be done there.
  }
}

const AGENT: OptionKeys<GivenAgent> = {
  name: true,
  description: true,
  systemPrompt: true,
  model: true,
  tools: true,
  disallowedTools: true,
  skills: true,
  maxIterations: true,
};
const RUNS_OPTIONS: OptionKeys<RunsOptions> = { store: true, keepDays: true };
const STORE_CALLS: OptionKeys<RunStore> = { put: true, append: true, list: true, events: true, delete: true };
const STORES: readonly unknown[] = ["files", "memory", "none"];

function checkRunsOptions(options: RunsOptions): void {
  checkKeys("createMetier({ runs })", options, RUNS_OPTIONS);
  const { store = "files", keepDays = 1 } = options;
  if (!(typeof keepDays === "number" && keepDays > 0 && Number.isFinite(keepDays))) {
    throw new UsageError(
      `The option \`runs.keepDays\` is ${showValue(keepDays)}; it must be a number above 0.`,
      { hint: 'To keep nothing, use `runs: { store: "none" }`.' },
    );
  }
  if (STORES.includes(store)) return;
  if (typeof store !== "object" || store === null) {
    const shown = typeof store === "string" ? showValue(store) : kindOf(store);
    throw new UsageError(
      `The option \`runs.store\` is ${shown}; it must be \`files\`, \`memory\`, \`none\` or a store.`,
    );
  }
  const missing = Object.keys(STORE_CALLS).find(
    (name) => typeof (store as object as Unchecked)[name] !== "function",
  );
  if (missing !== undefined) {
    throw new UsageError(`\`runs.store\` has no function \`${missing}\`.`, {
      hint: `A store has ${showNames(Object.keys(STORE_CALLS))}.`,
    });
  }
}

type Unchecked = Readonly<Record<string, unknown>>;

const CAPABILITY_OPTIONS: OptionKeys<CapabilityOptions> = { providers: true, confirm: true };
const REQUIRED = ["definitions", "invoke"];
const OPTIONAL = ["authBegin", "authComplete", "authPoll", "forget", "close"];

/** Checks every provider: an error shows immediately, not in a later call. */
function checkCapabilityOptions(options: object): void {
  checkKeys("createMetier({ capabilities })", options, CAPABILITY_OPTIONS);
  const { providers = [], confirm } = options as Unchecked;
  const refuse = (name: string, value: unknown, allowed: string): UsageError =>
    new UsageError(`The option \`capabilities.${name}\` is ${kindOf(value)}; it must be ${allowed}.`);
  if (confirm !== undefined && typeof confirm !== "function") {
    throw refuse("confirm", confirm, "a function");
  }
  if (!Array.isArray(providers)) throw refuse("providers", providers, "a list of providers");
  const namespaces = providers.map(checkProvider);
  const twice = namespaces.find((namespace, index) => namespaces.indexOf(namespace) !== index);
  if (twice !== undefined) {
    throw new UsageError(`Two providers have the namespace \`${twice}\`.`, {
      hint: "Rename one: the ids of their capabilities start with it.",
    });
  }
}

/** Its namespace. */
function checkProvider(provider: unknown): string {
  if (typeof provider !== "object" || provider === null) {
    throw new UsageError(`A provider in \`capabilities.providers\` is ${kindOf(provider)}, not an object.`, {
      hint: "A provider has `namespace`, `definitions` and `invoke`.",
    });
  }
  const parts = provider as Unchecked;
  const { namespace } = parts;
  if (typeof namespace !== "string" || !isCapabilityId(`${namespace}.x`)) {
    const shown = typeof namespace === "string" ? showValue(namespace) : kindOf(namespace);
    throw new UsageError(`The \`namespace\` of a provider is ${shown}.`, {
      hint: "Use `a-z`, `0-9`, `_` and `-`, starting with a letter or digit, as in `gog`.",
    });
  }
  const wrong = [...REQUIRED, ...OPTIONAL].find((name) => {
    const isLeftOut = parts[name] === undefined && OPTIONAL.includes(name);
    return !isLeftOut && typeof parts[name] !== "function";
  });
  if (wrong !== undefined) {
    throw new UsageError(
      `\`${wrong}\` of the provider \`${namespace}\` is ${kindOf(parts[wrong])}; it must be a function.`,
      { hint: `A provider has ${REQUIRED.map((name) => `\`${name}\``).join(" and ")}.` },
    );
  }
  return namespace;
}
