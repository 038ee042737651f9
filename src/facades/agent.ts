/**
 * The agent other systems know, as far as skills go: it has a model and a `SkillManager`. Reading a property makes
 * nothing: skills are set up by `initSkills`, by the first `registerSkill`, or on creation where skills are given.
 */

import type { GivenSkill } from "../catalog/given-skills.ts";
import type { RunEvent } from "../events/run-event.ts";
import { SkillNotFoundError } from "../foundation/errors.ts";
import type { GivenModel } from "../model/given-model.ts";
import type { AskApproval } from "../run/approvals.ts";
import type { Chat, ChatTurn } from "../run/chat.ts";
import type { Skill } from "../skill/skill.ts";
import type { Tool } from "../tools/tool.ts";
import { type LoadedSkill, SkillManager, type SkillManagerConfig } from "./skill-manager.ts";

export interface AgentSettings {
  readonly skills?: SkillManagerConfig;
}

export interface AgentOptions {
  /** A model of the AI SDK, an alias of the config, or a name; for skills that name none themselves. */
  readonly model?: string | GivenModel;
  /** Skills to register: paths, `file:` URLs or objects. */
  readonly skills?: readonly (string | URL | GivenSkill)[];
  /** Folders of skills to discover; without them and without settings nothing is looked for. */
  readonly skillDirs?: readonly string[];
  readonly settings?: AgentSettings;
  /** Who is asked about tool calls. Default: nobody, so that what must be asked is denied. */
  readonly approve?: "all" | AskApproval;
  /** Every event of turns and runs. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly cwd?: string;
  readonly home?: string;
}

export class Agent {
  readonly #options: AgentOptions;
  #made: Promise<SkillManager> | undefined;
  #manager: SkillManager | undefined;
  #chat: Promise<Chat> | undefined;

  private constructor(options: AgentOptions) {
    this.#options = options;
  }

  static async create(options: AgentOptions = {}): Promise<Agent> {
    const agent = new Agent(options);
    const { skills, skillDirs, settings } = options;
    if (skills ?? skillDirs ?? settings?.skills) await agent.initSkills();
    return agent;
  }

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

  async registerSkill(
    skill: string | URL | GivenSkill,
    options: { readonly tools?: readonly Tool<unknown>[] } = {},
  ): Promise<Skill> {
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
   * The skill's instructions with the arguments, joined by spaces, put in; of a skill that forks, the answer of its run.
   * Throws as `SkillManager.activate` does.
   */
  async invokeSkill(name: string, ...args: readonly string[]): Promise<string> {
    if (this.#manager === undefined) {
      throw new SkillNotFoundError(name, undefined, { hint: "Register it, or call `initSkills`, first." });
    }
    return this.#manager.activate(name, args.join(" "));
  }

  /**
   * One message to the agent, which may use every skill; the next one goes on with the same conversation. Throws
   * `MetierError` where there is no model; what happens in a turn is a value.
   */
  async run(prompt: string, options: { readonly signal?: AbortSignal } = {}): Promise<ChatTurn> {
    this.#chat ??= this.#openChat();
    return (await this.#chat).send(prompt, options);
  }

  async #openChat(): Promise<Chat> {
    const { approve, onEvent } = { ...this.#options.settings?.skills, ...this.#options };
    try {
      const { metier } = await this.initSkills();
      return await metier.chat({ ...(approve && { approve }), ...(onEvent && { onEvent }) });
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
        ...(skillDirs && { skillsDirs: skillDirs }),
        ...(model !== undefined && { models: { ...settings?.skills?.models, default: model } }),
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
