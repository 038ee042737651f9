/**
 * What an embedding program can say to `createMetier`; everything has a default. A program may be JavaScript, or
 * mistyped, so `checkOptions` holds it to these types.
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

/** What runs are given by the embedding program. */
export interface RunningOptions extends DurabilityOptions {
  /** Models by alias, of the AI SDK or by name; `default` is taken when nothing else is named. */
  readonly models?: GivenModels;
  /** Further tools for runs: of `defineTool`, or plain objects. They may return anything. */
  readonly tools?: readonly GivenTool[];
  /** Named agents for skills that say `context: fork` and `agent`. */
  readonly agents?: readonly GivenAgent[];
  /** Makes `web_search` a tool of runs. */
  readonly search?: SearchProvider;
  /** Every event of every run, chat, script and nested run. It may be async; its faults end nothing. */
  readonly onEvent?: (event: RunEvent) => unknown;
  /** Where Metier writes what an operator wants to know: pino, `console`, or an object with the same four functions. */
  readonly logger?: Logger;
  /** Where runs are kept, and how long. Default: `{ store: "files", keepDays: 30 }`. */
  readonly runs?: RunsOptions;
  /**
   * Whether runs are for others than the user of this machine, as in a server. Models that use the user's own program,
   * such as `claude-program`, are refused then. Default: no.
   */
  readonly service?: boolean;
}

/** What the embedding program brings for capabilities: providers, and whom to ask before a change. */
export interface CapabilityOptions {
  /** Providers of the embedding program, beside those of the config; a namespace of theirs is theirs alone. */
  readonly providers?: readonly CapabilityProvider[];
  /** Asked before something is changed, where a call or a run brings nobody to ask. Absent: nothing is changed. */
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
  /** What is done in sensitive systems for a user, without credentials in a run. */
  readonly capabilities?: CapabilityOptions;
  /**
   * What runs see and work on, and where project skills are looked for. Without it runs have no working directory, only
   * folders of their own; project skills are looked for from the process's working directory.
   */
  readonly cwd?: string;
  /** Replaces the OS home everywhere. Default: `METIER_HOME` of the environment, or the OS home. */
  readonly home?: string;
  /** A config file in place of the project's. */
  readonly configFile?: string;
  /** Config values, as in a config file; they override all files. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Directories, order and config files of another system. */
  readonly preset?: PresetName;
  /** Custom sources: skill folders, skill files or folders of skills. Untrusted unless promoted. */
  readonly paths?: readonly string[];
  /** Paths whose skills are trusted, with everything below them. */
  readonly trustedPaths?: readonly string[];
  /** Skills of the embedding program, as objects or as folders of skills; it vouches for them. */
  readonly integrations?: readonly (string | GivenSkill)[];
  /** Skills from anywhere: a database, a bucket, a service. Untrusted unless the source says otherwise. */
  readonly sources?: readonly SkillSource[];
  /**
   * Whether the skills that come with Metier are offered; `unless-disabled`: unless `skills.bundled` is `false`.
   * Default: the config's `skills.bundled`, which is off.
   */
  readonly bundled?: boolean | "unless-disabled";
  /** Globs over names: the only skills that may be used. Default: all. */
  readonly allow?: readonly string[];
  /** Globs over names: skills that may not be used. Wins over `allow`. */
  readonly deny?: readonly string[];
  /** How strict loading is. Default: `standard`. */
  readonly profile?: Profile;
  /**
   * What becomes of two skills of one name in one scope: `throw` a `SkillConflictError`, or `report` a diagnostic and
   * use the first. Default: `throw` under `profile: "strict"`, else `report`.
   */
  readonly conflicts?: "throw" | "report";
  /**
   * `vouch` (default): the program vouches for the project and user folders it opens. `grants`: they are untrusted until
   * the user has granted them, as on the command line.
   */
  readonly trust?: "vouch" | "grants";
  /**
   * `false`: nothing is looked for until `discover` or `reload` is called. `true`: the standard directories are searched
   * also where the config's `skills.auto-discover` is off. Default: what the config says, which is on.
   */
  readonly autoDiscover?: boolean;
  /** Whether an index of unchanged files may be kept under the home folder. Default: yes. */
  readonly index?: boolean;
  /** Default: the process's environment. One without `PATH` has the process's, by which sandbox and shell are found. */
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
  allowed: "the path of a folder that exists",
  accepts: (value) => isText(value) && isFolder(value),
};
const TEXTS: OptionType = {
  allowed: "a list of texts",
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

/** What stands in it becomes a skill, a tool or a diagnostic. */
function listOf(what: string): OptionType {
  return { allowed: `a list of ${what}`, accepts: Array.isArray };
}

function oneOf(...values: readonly (string | boolean)[]): OptionType {
  return {
    allowed: values.map((value) => `\`${value}\``).join(", "),
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

/** Throws `UsageError` for the first option that is not known or not allowed; one that is `undefined` is not given. */
export function checkOptions(options: unknown): void {
  checkKeys("createMetier", options, OPTIONS);
  for (const [name, value] of Object.entries(options as object)) {
    const { allowed, accepts } = OPTIONS[name as keyof MetierOptions];
    if (value === undefined || accepts(value)) continue;
    const shown = typeof value === "string" ? showValue(value) : kindOf(value);
    throw new UsageError(`The option \`${name}\` is ${shown}; allowed is ${allowed}.`);
  }
  const { tools = [], agents = [], capabilities = {}, sources = [], runs = {} } = options as MetierOptions;
  for (const agent of agents) checkKeys("createMetier({ agents })", agent ?? null, AGENT);
  checkSkillSources(sources);
  checkRunsOptions(runs);
  checkProgramTools(tools);
  checkCapabilityOptions(capabilities);
}

/** Without PATH neither the sandbox nor a shell would be found, and nobody means that by leaving it out. */
export function completeEnvironment(environment: Environment = process.env): Environment {
  const isFound = Object.keys(environment).some((name) => name.toUpperCase() === "PATH");
  return isFound ? environment : { ...environment, PATH: process.env.PATH ?? SYSTEM_PATH };
}

/** Where systems have their programs; for a process that was started without a PATH of its own. */
const SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin";

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing or out of reach: either way nothing can be done there.
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
      `The option \`runs.keepDays\` is ${showValue(keepDays)}; allowed is a number above 0.`,
      { hint: 'To keep nothing, say `runs: { store: "none" }`.' },
    );
  }
  if (STORES.includes(store)) return;
  if (typeof store !== "object" || store === null) {
    const shown = typeof store === "string" ? showValue(store) : kindOf(store);
    throw new UsageError(
      `The option \`runs.store\` is ${shown}; allowed is \`files\`, \`memory\`, \`none\` or a store.`,
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

/** Down to each provider: a fault shows at once, not in a call. */
function checkCapabilityOptions(options: object): void {
  checkKeys("createMetier({ capabilities })", options, CAPABILITY_OPTIONS);
  const { providers = [], confirm } = options as Unchecked;
  const refuse = (name: string, value: unknown, allowed: string): UsageError =>
    new UsageError(`The option \`capabilities.${name}\` is ${kindOf(value)}; allowed is ${allowed}.`);
  if (confirm !== undefined && typeof confirm !== "function") {
    throw refuse("confirm", confirm, "a function that is asked");
  }
  if (!Array.isArray(providers)) throw refuse("providers", providers, "a list of providers");
  const namespaces = providers.map(checkProvider);
  const twice = namespaces.find((namespace, index) => namespaces.indexOf(namespace) !== index);
  if (twice !== undefined) {
    throw new UsageError(`Two providers have the namespace \`${twice}\`.`, {
      hint: "Give one of them another: the ids of their capabilities begin with it.",
    });
  }
}

/** Its namespace. */
function checkProvider(provider: unknown): string {
  if (typeof provider !== "object" || provider === null) {
    throw new UsageError(`A provider in \`capabilities.providers\` is ${kindOf(provider)}, not an object.`, {
      hint: "It has `namespace`, `definitions` and `invoke`.",
    });
  }
  const parts = provider as Unchecked;
  const { namespace } = parts;
  if (typeof namespace !== "string" || !isCapabilityId(`${namespace}.x`)) {
    const shown = typeof namespace === "string" ? showValue(namespace) : kindOf(namespace);
    throw new UsageError(`The \`namespace\` of a provider is ${shown}.`, {
      hint: "Allowed are `a-z`, `0-9`, `_` and `-`, a letter or digit first, as in `gog`.",
    });
  }
  const wrong = [...REQUIRED, ...OPTIONAL].find((name) => {
    const isLeftOut = parts[name] === undefined && OPTIONAL.includes(name);
    return !isLeftOut && typeof parts[name] !== "function";
  });
  if (wrong !== undefined) {
    throw new UsageError(
      `\`${wrong}\` of the provider \`${namespace}\` is ${kindOf(parts[wrong])}; allowed is a function.`,
      { hint: `A provider has ${REQUIRED.map((name) => `\`${name}\``).join(" and ")}.` },
    );
  }
  return namespace;
}
