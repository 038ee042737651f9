/**
 * The manager other systems know, as a thin face over `createMetier`: directories in, skills by name out. It remembers
 * which skills are active and which tools the program gave with them; everything else is the `Metier`'s.
 */
import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import { type AskApproval, type OwnedTool, ownTool, type RunRequest, type Tool } from "@metier/run";
import type { RunEvent } from "@metier/run/events";
import type { GivenSkill, Skill, ValidationReport } from "@metier/skills";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions, RunningOptions } from "../runtime/metier-options.ts";
import { findByPath, toRegistrable } from "./register-skill.ts";
import { textOf } from "./skill-registry.ts";

/** What can be registered: a path, a `file:` URL, an object, or a skill that some list or `getSkill` gave. */
export type RegistrableSkill = string | URL | GivenSkill | Skill | LoadedSkill;

/** Where a `SkillManager` finds skills, and how it runs those that fork. */
export interface SkillManagerConfig
  extends RunningOptions,
    Pick<MetierOptions, "profile" | "conflicts" | "sources"> {
  /** Project skill directories, relative to the working directory. */
  readonly skillsDirs?: readonly string[];
  /** `~` is the home folder. */
  readonly userSkillsDir?: string;
  /** Further skill folders, skill files or folders of skills; untrusted unless `trustedPaths` has them. */
  readonly customPaths?: readonly string[];
  /** Paths whose skills are trusted, with everything below them. */
  readonly trustedPaths?: readonly string[];
  /** Whether `SkillManager.create` finds skills at once. Default: the config's `skills.auto-discover`, which is on. */
  readonly autoDiscover?: boolean;
  /** Whether tools of skills carry the skill's name. Default: the config's `skills.namespace-tools`, which is on. */
  readonly namespaceTools?: boolean;
  /** Who is asked about the tool calls of skills that fork. Default: nobody, so that what must be asked is denied. */
  readonly approve?: "all" | AskApproval;
  /** Every event of the runs of skills that fork. */
  readonly onEvent?: (event: RunEvent) => void;
  /**
   * The folder its skills work in, and where project skills are looked for. Default: the process's working directory.
   */
  readonly cwd?: string;
  /** In place of the user's home folder. Default: `METIER_HOME` of the environment, or the OS home. */
  readonly home?: string;
  /** In place of the process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A skill with its instructions; `info` alone is what a list has. */
export interface LoadedSkill {
  /** The skill without its instructions. */
  readonly info: Skill;
  /** The instructions, without the frontmatter; arguments are not put in. */
  readonly body: string;
}

const CONFIG: OptionKeys<SkillManagerConfig> = {
  models: true,
  tools: true,
  agents: true,
  search: true,
  onEvent: true,
  logger: true,
  runs: true,
  service: true,
  journal: true,
  engine: true,
  snapshots: true,
  profile: true,
  conflicts: true,
  sources: true,
  skillsDirs: true,
  userSkillsDir: true,
  customPaths: true,
  trustedPaths: true,
  autoDiscover: true,
  namespaceTools: true,
  approve: true,
  cwd: true,
  home: true,
  environment: true,
};
const REFERENCES = "references/";

/**
 * Finds and registers skills, and keeps track of the active ones and their tools. Make one with `SkillManager.create`.
 */
export class SkillManager {
  readonly #metier: Metier;
  readonly #request: Pick<RunRequest, "approve" | "onEvent">;
  /** By address, `scope:name`: what was given with one skill must not reach another of its name. */
  readonly #tools = new Map<string, readonly Tool<unknown>[]>();
  readonly #active = new Set<string>();

  readonly #cwd: string;

  private constructor(metier: Metier, request: Pick<RunRequest, "approve" | "onEvent">, cwd: string) {
    this.#metier = metier;
    this.#request = request;
    this.#cwd = cwd;
  }

  /**
   * Makes a manager with the preset `mamba`. Two skills of one name in one scope throw `SkillConflictError`, unless
   * `conflicts` says otherwise.
   */
  static async create(config: SkillManagerConfig = {}): Promise<SkillManager> {
    checkKeys("SkillManager.create", config, CONFIG);
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
    const skills = presentFields({
      "project-dirs": skillsDirs,
      "user-dir": userSkillsDir,
      "namespace-tools": namespaceTools,
    });
    // The workspace of the system this face comes from: its runs have one also where none is named.
    const cwd = resolve(options.cwd ?? process.cwd());
    const metier = await createMetier({
      // Two skills of one name in one scope are an error in the system that this face comes from.
      conflicts: "throw",
      ...options,
      cwd,
      preset: "mamba",
      config: { skills },
      ...presentFields({ paths: customPaths }),
    });
    return new SkillManager(metier, presentFields({ approve, onEvent }), cwd);
  }

  /** What is behind it. */
  get metier(): Metier {
    return this.#metier;
  }

  /** Looks in all configured directories, and gives the usable skills that are there, known before or not. */
  async discover(): Promise<readonly Skill[]> {
    await this.#metier.discover();
    return this.#metier.list().filter(({ location }) => location !== "");
  }

  /**
   * A path whose skill was found already is that skill, and one in a configured directory has the scope and the trust of
   * that directory. `tools` come with the skill: they are there while it is active, and when it is run.
   */
  async register(
    skill: RegistrableSkill,
    options: {
      /** Tools of the program that come with the skill. */
      readonly tools?: readonly Tool<unknown>[];
    } = {},
  ): Promise<Skill> {
    checkKeys("SkillManager.register", options, { tools: true });
    const { tools = [] } = options;
    const asked = toRegistrable(skill);
    const registered = findByPath(asked, this.#metier, this.#cwd) ?? (await this.#metier.register(asked));
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

  /** The skill of a name or `scope:name`, whatever its status; `undefined` when there is none. */
  get(name: string): Skill | undefined {
    return this.#metier.get(name);
  }

  /** A skill with its instructions, which are read now. */
  async load(name: string): Promise<LoadedSkill | undefined> {
    const info = this.#metier.get(name);
    return info && { info, body: (await this.#metier.getInstructions(name)).text };
  }

  /** The usable skills, sorted by name. */
  list(): readonly Skill[] {
    return this.#metier.list();
  }

  /**
   * The skill's instructions, read now, with arguments put in; from here on its tools are there. A skill that forks is
   * run instead, and its answer returned. A line of arguments is taken apart as a shell would, a list is not; what was
   * not given is empty. Throws `SkillNotFoundError`, `SkillInvocationError` for a refusal and for a run that did not
   * complete, and for a file that is no skill any more `SkillParseError`, `SkillValidationError` or `SkillLoadError`.
   */
  async activate(name: string, args: string | readonly string[] = ""): Promise<string> {
    const tools = this.#tools.get(this.#addressOf(name));
    const outcome = await this.#metier.activate({
      ...this.#request,
      skill: name,
      arguments: typeof args === "string" && args.trim() === "" ? [] : args,
      ...presentFields({ tools }),
    });
    const text = textOf(outcome, "code");
    if (outcome.kind === "inline") this.#active.add(addressOf(outcome.prepared.skill));
    return text;
  }

  /** A skill that is not active, or not known, is no fault. */
  deactivate(name: string): void {
    this.#active.delete(this.#addressOf(name));
  }

  /** Whether the skill was activated and not deactivated since. A skill that forks is never active. */
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

  /** Checks the skills at a path without loading them. */
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

/** What a validation found, as plain messages. */
export interface ManagerValidation {
  /** Whether a skill was found and nothing in it is an error. */
  readonly valid: boolean;
  /** One message for each error. */
  readonly errors: readonly string[];
  /** One message for each warning. */
  readonly warnings: readonly string[];
  /** The first skill file; the path that was asked for when it holds no skill, `""` for an object. */
  readonly skillPath: string;
}

/** `asked` is the path where no skill was found. */
export function summariseReport(
  { valid, results, diagnostics }: ValidationReport,
  asked: string,
): ManagerValidation {
  const all = [...diagnostics, ...results.flatMap((result) => result.diagnostics)];
  return { valid, ...messagesOf(all), skillPath: results[0]?.path ?? asked };
}

export function messagesOf(
  diagnostics: readonly Diagnostic[],
): Pick<ManagerValidation, "errors" | "warnings"> {
  const messages = (severity: string): readonly string[] =>
    diagnostics.filter((entry) => entry.severity === severity).map(({ message }) => message);
  return { errors: messages("error"), warnings: messages("warning") };
}
