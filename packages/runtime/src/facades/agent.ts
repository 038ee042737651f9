/**
 * The agent other systems know, as far as skills go: it has a model and a `SkillManager`. Reading a property makes
 * nothing: skills are set up by `initSkills`, by the first `registerSkill`, or on creation where skills are given.
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
  /** How the skill manager is set up; the agent's own options come first. */
  readonly skills?: SkillManagerConfig;
}

/** What an `Agent` is made of; without skills it starts with none. */
export interface AgentOptions {
  /** A model of the AI SDK, an alias of the config, or a name; for skills that name none themselves. */
  readonly model?: string | GivenModel;
  /** Skills to register: paths, `file:` URLs, objects, or skills that a list or `getSkill` gave. */
  readonly skills?: readonly RegistrableSkill[];
  /** Folders of skills to discover; without them and without settings nothing is looked for. */
  readonly skillDirs?: readonly string[];
  /** Settings by part; where `skills` is given, skills are set up on creation. */
  readonly settings?: AgentSettings;
  /** Who is asked about tool calls. Default: nobody, so that what must be asked is denied. */
  readonly approve?: "all" | AskApproval;
  /** Every event of turns and runs. */
  readonly onEvent?: (event: RunEvent) => void;
  /**
   * The folder its skills work in, and where project skills are looked for. Default: the process's working directory.
   */
  readonly cwd?: string;
  /** In place of the user's home folder. Default: `METIER_HOME` of the environment, or the OS home. */
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

/**
 * An agent with a model and skills, for programs that come from a system with such a class. Make one with
 * `Agent.create`.
 */
export class Agent {
  readonly #options: AgentOptions;
  #made: Promise<SkillManager> | undefined;
  #manager: SkillManager | undefined;
  #chat: Promise<Chat> | undefined;

  private constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** Creates an agent, and sets skills up at once when `skills`, `skillDirs` or `settings.skills` is given. */
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

  /**
   * Registers a skill, and sets skills up first if needed. `tools` are there while it is active, and when it is run.
   */
  async registerSkill(
    skill: RegistrableSkill,
    options: {
      /** Tools of the program that come with the skill. */
      readonly tools?: readonly Tool<unknown>[];
    } = {},
  ): Promise<Skill> {
    checkKeys("registerSkill", options, { tools: true });
    return (await this.initSkills()).register(skill, options);
  }

  /** A skill with its instructions, which are read now; `undefined` when there is none of that name. */
  async getSkill(name: string): Promise<LoadedSkill | undefined> {
    return this.#manager?.load(name);
  }

  /** What is known without reading instructions. */
  listSkills(): readonly Skill[] {
    return this.#manager?.list() ?? [];
  }

  /**
   * The skill's instructions with the arguments put in; of a skill that forks, the answer of its run. One argument is
   * taken apart as a shell would; of several, each is one, whatever blanks it has, and quotes around it are taken off.
   * `$ARGUMENTS` is all of them, joined by spaces. Throws as `SkillManager.activate` does.
   */
  async invokeSkill(name: string, ...args: readonly string[]): Promise<string> {
    if (this.#manager === undefined) {
      throw new SkillNotFoundError(name, undefined, { hint: "Register it, or call `initSkills`, first." });
    }
    const [first = ""] = args;
    return this.#manager.activate(name, args.length < 2 ? first : args.map(unquote));
  }

  /**
   * One message to the agent, which may use every skill; the next one goes on with the same conversation. Throws
   * `MetierError` where there is no model; what happens in a turn is a value.
   */
  async run(
    prompt: string,
    options: {
      /** Ends the turn when it is aborted. */
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
