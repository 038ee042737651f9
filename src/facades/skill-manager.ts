/**
 * The manager other systems know, as a thin face over `createMetier`: directories in, skills by name out. It remembers
 * which skills are active and which tools the program gave with them; everything else is the `Metier`'s.
 */
import type { GivenSkill } from "../catalog/given-skills.ts";
import type { RunEvent } from "../events/run-event.ts";
import { UsageError } from "../foundation/errors.ts";
import type { AskApproval } from "../run/approvals.ts";
import type { RunRequest } from "../run/run-request.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { RunningOptions } from "../runtime/metier-options.ts";
import type { Skill } from "../skill/skill.ts";
import { type OwnedTool, ownTool } from "../tools/own-tools.ts";
import type { Tool } from "../tools/tool.ts";
import { textOf } from "./invocation-text.ts";
import { type ManagerValidation, summariseReport } from "./manager-validation.ts";

export interface SkillManagerConfig extends RunningOptions {
  /** Project skill directories, relative to the working directory. */
  readonly skillsDirs?: readonly string[];
  /** `~` is the home folder. */
  readonly userSkillsDir?: string;
  readonly customPaths?: readonly string[];
  readonly trustedPaths?: readonly string[];
  /** Whether `SkillManager.create` finds skills at once. Default: the config's `skills.auto-discover`, which is on. */
  readonly autoDiscover?: boolean;
  /** Whether tools of skills carry the skill's name. Default: the config's `skills.namespace-tools`, which is on. */
  readonly namespaceTools?: boolean;
  /** Who is asked about the tool calls of skills that fork. Default: nobody, so that what must be asked is denied. */
  readonly approve?: "all" | AskApproval;
  /** Every event of the runs of skills that fork. */
  readonly onEvent?: (event: RunEvent) => void;
  readonly cwd?: string;
  readonly home?: string;
  /** In place of the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A skill with its instructions; `info` alone is what a list has. */
export interface LoadedSkill {
  readonly info: Skill;
  readonly body: string;
}

const REFERENCES = "references/";

export class SkillManager {
  readonly #metier: Metier;
  readonly #request: Pick<RunRequest, "approve" | "onEvent">;
  /** By address, `scope:name`: what was given with one skill must not reach another of its name. */
  readonly #tools = new Map<string, readonly Tool<unknown>[]>();
  readonly #active = new Set<string>();

  private constructor(metier: Metier, request: Pick<RunRequest, "approve" | "onEvent">) {
    this.#metier = metier;
    this.#request = request;
  }

  static async create(config: SkillManagerConfig = {}): Promise<SkillManager> {
    const {
      skillsDirs,
      userSkillsDir,
      customPaths,
      namespaceTools,
      approve,
      onEvent,
      // All others are options of `createMetier` by the same names.
      ...options
    } = config;
    const skills = {
      ...(skillsDirs && { "project-dirs": skillsDirs }),
      ...(userSkillsDir !== undefined && { "user-dir": userSkillsDir }),
      ...(namespaceTools !== undefined && { "namespace-tools": namespaceTools }),
    };
    const metier = await createMetier({
      ...options,
      preset: "mamba",
      config: { skills },
      ...(customPaths && { paths: customPaths }),
    });
    return new SkillManager(metier, { ...(approve && { approve }), ...(onEvent && { onEvent }) });
  }

  /** What is behind it. */
  get metier(): Metier {
    return this.#metier;
  }

  /** The skills that were not known before. */
  discover(): Promise<readonly Skill[]> {
    return this.#metier.discover();
  }

  /** `tools` come with the skill: they are there while it is active, and when it is run. */
  async register(
    skill: string | URL | GivenSkill,
    { tools = [] }: { readonly tools?: readonly Tool<unknown>[] } = {},
  ): Promise<Skill> {
    const registered = await this.#metier.register(skill);
    if (tools.length > 0) this.#tools.set(addressOf(registered), tools);
    return registered;
  }

  /** Takes a registered skill away again; an active one is deactivated. */
  async deregister(name: string): Promise<void> {
    await this.#metier.deregister(name);
    // A folder that was registered takes all its skills with it.
    for (const address of [...this.#active, ...this.#tools.keys()]) {
      if (this.#metier.has(address)) continue;
      this.#tools.delete(address);
      this.#active.delete(address);
    }
  }

  get(name: string): Skill | undefined {
    return this.#metier.get(name);
  }

  /** A skill with its instructions, which are read now. */
  async load(name: string): Promise<LoadedSkill | undefined> {
    const info = this.#metier.get(name);
    return info && { info, body: (await this.#metier.getInstructions(name)).text };
  }

  list(): readonly Skill[] {
    return this.#metier.list();
  }

  /**
   * The skill's instructions, read now, with arguments put in; from here on its tools are there. A skill that forks is
   * run instead, and its answer returned. Throws `SkillNotFoundError`, or `SkillInvocationError` for a refusal and for
   * a run that did not complete.
   */
  async activate(name: string, args = ""): Promise<string> {
    const tools = this.#tools.get(this.#addressOf(name));
    const outcome = await this.#metier.activate({
      ...this.#request,
      skill: name,
      ...(args !== "" && { arguments: args }),
      ...(tools && { tools }),
    });
    const text = textOf(outcome, "code");
    if (outcome.kind === "inline") this.#active.add(addressOf(outcome.prepared.skill));
    return text;
  }

  /** A skill that is not active, or not known, is no fault. */
  deactivate(name: string): void {
    this.#active.delete(this.#addressOf(name));
  }

  isActive(name: string): boolean {
    return this.#active.has(this.#addressOf(name));
  }

  /** The tools of the active skills, under names of their own. */
  getAllTools(): readonly OwnedTool[] {
    const isNamespaced = this.#metier.config.config.skills.namespaceTools;
    const tools = [...this.#active].flatMap((address) => {
      const skill = this.#metier.get(address);
      if (skill === undefined || skill.status === "disabled" || skill.status === "unavailable") return [];
      return (this.#tools.get(address) ?? []).map((tool) => {
        const owned = ownTool(skill.name, tool);
        return isNamespaced ? owned : { ...owned, id: tool.name, name: tool.name };
      });
    });
    refuseSameName(tools);
    return tools;
  }

  /** The files below `references`, by the names that `loadReference` takes. */
  getReferences(name: string): readonly string[] {
    return this.#metier
      .listResources(name)
      .resources.map(({ path }) => path)
      .filter((path) => path.startsWith(REFERENCES))
      .map((path) => path.slice(REFERENCES.length));
  }

  /** Throws `SkillResourceError` for what is not there, is no text or lies elsewhere. */
  loadReference(name: string, file: string): string {
    return this.#metier.readResource(name, `${REFERENCES}${file}`, { as: "text" }).text ?? "";
  }

  async validate(path: string | URL): Promise<ManagerValidation> {
    return summariseReport(await this.#metier.validate(path), String(path));
  }

  /** Of the skill that a name or an address means. */
  #addressOf(name: string): string {
    const skill = this.#metier.get(name);
    return skill ? addressOf(skill) : name;
  }
}

function addressOf({ scope, name }: Skill): string {
  return `${scope}:${name}`;
}

function refuseSameName(tools: readonly OwnedTool[]): void {
  for (const [index, { name, skill }] of tools.entries()) {
    const first = tools.findIndex((other) => other.name === name);
    if (first === index) continue;
    throw new UsageError(
      `The active skills \`${tools[first]?.skill}\` and \`${skill}\` both bring a tool \`${name}\`.`,
      { hint: "Deactivate one of them, or set `skills.namespace-tools` to `true`." },
    );
  }
}
