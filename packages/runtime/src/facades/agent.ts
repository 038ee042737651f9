/**
 * Other systems' agent class, as far as skills go: a model and a `SkillManager`. Reading a property creates nothing:
 * `initSkills`, the first `registerSkill`, or creation with skills sets skills up.
 */
import { SkillNotFoundError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { type AskApproval, type Chat, type ChatTurn, splitArguments, type Tool } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { GivenModel } from "@metier/run/model";
import type { Skill } from "@metier/skills";
import {
  type LoadedSkill,
  type RegistrableSkill,
  SkillManager,
  type SkillManagerConfig,
} from "./skill-manager.ts";

/** Settings of an `Agent`, by part. */
export interface AgentSettings {
  /** Settings of the skill manager; the agent's own options take precedence. */
  readonly skills?: SkillManagerConfig;
}

/** Options of an `Agent`; without skills it starts with none. */
export interface AgentOptions {
  /** An AI SDK model, an alias from the config, or a name; for skills that don't name a model. */
  readonly model?: string | GivenModel;
  /** Skills to register: paths, `file:` URLs, objects, or skills from a list or `getSkill`. */
  readonly skills?: readonly RegistrableSkill[];
  /** Folders of skills to discover; without them and without settings, nothing is searched. */
  readonly skillDirs?: readonly string[];
  /** Settings by part; if `skills` is set, skills are set up on creation. */
  readonly settings?: AgentSettings;
  /** Who approves tool calls. Default: nobody, so calls that need approval are denied. */
  readonly approve?: "all" | AskApproval;
  /** Every event of turns and runs. */
  readonly onEvent?: (event: RunEvent) => void;
  /** The folder its skills work in, and where project skills are searched. Default: the process's working directory. */
  readonly cwd?: string;
  /** Replaces the user's home folder. Default: `METIER_HOME` from the environment, or the OS home. */
  readonly home?: string;
}

const SETTINGS: OptionKeys<AgentSettings> = { skills: true };
const OPTIONS: OptionKeys<AgentOptions> = {
  model: true,
  skills: true,
  skillDirs: true,
  settings: true,
  approve: true,
  onEvent: true,
  cwd: true,
  home: true,
};

/** An agent with a model and skills, for programs from a system with such a class. Create one with `Agent.create`. */
export class Agent {
  readonly #options: AgentOptions;
  #made: Promise<SkillManager> | undefined;
  #manager: SkillManager | undefined;
  #chat: Promise<Chat> | undefined;

  private constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Creates an agent. Sets skills up immediately if `skills`, `skillDirs` or `settings.skills` is set. */
  static async create(options: AgentOptions = {}): Promise<Agent> {
    checkKeys("Agent.create", options, OPTIONS);
    checkKeys("Agent.create({ settings })", options.settings, SETTINGS);
    const agent = new Agent(options);
    const { skills, skillDirs, settings } = options;
    if (skills ?? skillDirs ?? settings?.skills) await agent.initSkills();
    return agent;
  }

  /** Whether skills are set up. */
  get hasSkillManager(): boolean {
    return this.#manager !== undefined;
  }

  /** `undefined` until skills are set up. */
  get skillManager(): SkillManager | undefined {
    return this.#manager;
  }

  /** Sets skills up, once. */
  initSkills(): Promise<SkillManager> {
    this.#made ??= this.#makeManager();
    return this.#made;
  }

  /** Registers a skill; sets skills up first if needed. `tools` are available while it is active and when it runs. */
  async registerSkill(
    skill: RegistrableSkill,
    options: {
      /** The program's tools that come with the skill. */
      readonly tools?: readonly Tool<unknown>[];
    } = {},
  ): Promise<Skill> {
    checkKeys("registerSkill", options, { tools: true });
    return (await this.initSkills()).register(skill, options);
  }

  /** A skill with its instructions, read now; `undefined` if there is no such skill. */
  async getSkill(name: string): Promise<LoadedSkill | undefined> {
    return this.#manager?.load(name);
  }

  /** What is known without reading instructions. */
  listSkills(): readonly Skill[] {
    return this.#manager?.list() ?? [];
  }

  /**
   * The skill's instructions with arguments filled in; for a skill that forks, its run's answer. A single argument is
   * split as in a shell; several are taken as they are, except that surrounding quotes are removed. `$ARGUMENTS` is all
   * of them, joined by spaces. Throws like `SkillManager.activate`.
   */
  async invokeSkill(name: string, ...args: readonly string[]): Promise<string> {
    if (this.#manager === undefined) {
      throw new SkillNotFoundError(name, undefined, { hint: "Register it, or call `initSkills`, first." });
    }
    const [first = ""] = args;
    return this.#manager.activate(name, args.length < 2 ? first : args.map(unquote));
  }

  /**
   * Sends one message to the agent, which may use every skill; the next message continues the conversation. Throws
   * `MetierError` without a model; what happens in a turn is a value.
   */
  async run(
    prompt: string,
    options: {
      /** Aborting it ends the turn. */
      readonly signal?: AbortSignal;
    } = {},
  ): Promise<ChatTurn> {
    checkKeys("Agent.run", options, { signal: true });
    this.#chat ??= this.#openChat();
    return (await this.#chat).send(prompt, options);
  }

  async #openChat(): Promise<Chat> {
    const { approve, onEvent } = { ...this.#options.settings?.skills, ...this.#options };
    try {
      const { metier } = await this.initSkills();
      return await metier.chat(presentFields({ approve, onEvent }));
    } catch (error) {
      this.#chat = undefined; // The next message tries again.
      throw error;
    }
  }

  async #makeManager(): Promise<SkillManager> {
    const { model, skills = [], skillDirs, settings, ...options } = this.#options;
    try {
      const manager = await SkillManager.create({
        autoDiscover: skillDirs !== undefined || settings?.skills !== undefined,
        ...settings?.skills,
        ...options,
        ...presentFields({
          skillsDirs: skillDirs,
          models: model === undefined ? undefined : { ...settings?.skills?.models, default: model },
        }),
      });
      for (const skill of skills) await manager.register(skill);
      this.#manager = manager;
      return manager;
    } catch (error) {
      this.#made = undefined; // The next call tries again.
      throw error;
    }
  }
}

/** `"hello world"`, quoted as for a shell, is the argument `hello world`. */
function unquote(argument: string): string {
  const [word = "", ...more] = /^\s*['"]/.test(argument) ? splitArguments(argument) : [argument];
  return more.length === 0 ? word : argument;
}
