/** What an embedding program can say to `createMetier`; everything has a default. `check-options.ts` holds it to this. */
import type { GivenAgent } from "../agents/agent.ts";
import type { ConfirmMutation } from "../capabilities/capability-broker.ts";
import type { CapabilityProvider } from "../capabilities/capability-provider.ts";
import type { GivenSkill } from "../catalog/given-skills.ts";
import type { PresetName } from "../config/config.ts";
import type { GivenModels } from "../model/given-model.ts";
import type { Tool } from "../tools/tool.ts";
import type { SearchProvider } from "../tools/web/web-search.ts";
import type { Profile } from "../validate/profiles.ts";

/** What runs are given by the embedding program. */
export interface RunningOptions {
  /** Models by alias, of the AI SDK or by name; `default` is taken when nothing else is named. */
  readonly models?: GivenModels;
  /** Further tools for runs. */
  readonly tools?: readonly Tool[];
  /** Named agents for skills that say `context: fork` and `agent`. */
  readonly agents?: readonly GivenAgent[];
  /** Makes `web_search` a tool of runs. */
  readonly search?: SearchProvider;
}

export interface CapabilityOptions {
  /** Providers of the embedding program, beside those of the config; a namespace of theirs is theirs alone. */
  readonly providers?: readonly CapabilityProvider[];
  /** Asked before something is changed, where a call or a run brings nobody to ask. Absent: nothing is changed. */
  readonly confirm?: ConfirmMutation;
}

export interface MetierOptions extends RunningOptions {
  /** What is done in sensitive systems for a user, without credentials in a run. */
  readonly capabilities?: CapabilityOptions;
  /** Default: the process's working directory. */
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
  /**
   * Whether the skills that come with Metier are offered; `unless-disabled`: unless `skills.bundled` is `false`.
   * Default: the config's `skills.bundled`, which is off.
   */
  readonly bundled?: boolean | "unless-disabled";
  /** Globs over names: what may be used at all, and what may not. Deny wins. */
  readonly allow?: readonly string[];
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
  /** Default: the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}
