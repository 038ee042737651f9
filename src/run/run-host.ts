/** What the running stage needs of the rest: given once by `src/runtime`, the same for all runs. */
import type { LoadedAgents } from "../agents/load-agents.ts";
import type { LoadedCommands } from "../agents/load-commands.ts";
import type { LoadedConfig } from "../config/config.ts";
import type { Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { InvocationHost } from "../invoke/checks/check.ts";
import type { AskedExecution } from "../invoke/choose-execution.ts";
import type { ConversationTrust } from "../invoke/conversation-trust.ts";
import type { Invocation, PrepareOutcome } from "../invoke/invocation.ts";
import type { GivenModels } from "../model/given-model.ts";
import type { Skill, Trust } from "../skill/skill.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { SearchProvider } from "../tools/web/web-search.ts";
import type { RunCapabilities } from "./run-capabilities.ts";

export interface PrepareOptions {
  readonly tools: NonNullable<InvocationHost["tools"]>;
  readonly asked?: AskedExecution;
  readonly conversation?: ConversationTrust;
  /** Values of the caller for declared variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** What commands in a text must not see. */
  readonly privateFiles?: readonly string[];
  readonly signal?: AbortSignal;
  /** Only to see what would happen: no value is fetched and no command of a text is run. */
  readonly isDry?: boolean;
  /** Whether whoever asks can run a skill in isolation. Default: yes. */
  readonly canRun?: boolean;
}

export interface RunHost {
  readonly places: Places;
  readonly cwd: string;
  /** Of this process: model keys are looked for here, and nothing else of it reaches a run. */
  readonly environment: Environment;
  readonly models?: GivenModels;
  /** Tools of the embedding program. */
  readonly tools: readonly Tool[];
  readonly search?: SearchProvider;
  /** Absent: nobody performs any, so a skill that declares some is not run. */
  readonly capabilities?: RunCapabilities;
  config(): LoadedConfig;
  /** The skills a model may use. */
  readonly library: SkillLibrary;
  /** What a skill is trusted with as its files are now. */
  trustNow(skill: Skill): Trust;
  /** Those a user may call by name. */
  userSkills(): readonly Skill[];
  agents(): Promise<LoadedAgents>;
  /** What a user may call beside skills. */
  commands(): Promise<LoadedCommands>;
  prepare(invocation: Invocation, options: PrepareOptions): Promise<PrepareOutcome>;
}
