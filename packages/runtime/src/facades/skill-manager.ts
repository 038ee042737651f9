/**
 * Other systems' manager, as a thin class over `createMetier`: directories in, skills by name out. It remembers which
 * skills are active and the tools the program passed with them; `Metier` does the rest.
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

/** What can be registered: a path, a `file:` URL, an object, or a skill from a list or `getSkill`. */
export type RegistrableSkill = string | URL | GivenSkill | Skill | LoadedSkill;

/** Where a `SkillManager` finds skills, and how it runs those that fork. */
export interface SkillManagerConfig
  extends RunningOptions,
    Pick<MetierOptions, "profile" | "conflicts" | "sources"> {
  /** Project skill directories, relative to the working directory. */
  readonly skillsDirs?: readonly string[];
  /** `~` is the home folder. */
  readonly userSkillsDir?: string;
  /** More skill folders, skill files or folders of skills; untrusted unless listed in `trustedPaths`. */
  readonly customPaths?: readonly string[];
  /** Paths whose skills are trusted, including everything below them. */
  readonly trustedPaths?: readonly string[];
  /** Whether `SkillManager.create` searches for skills. Default: the config's `skills.auto-discover`, which is on. */
  readonly autoDiscover?: boolean;
  /**
   * Whether tools of skills have the skill's name as a prefix. Default: the config's `skills.namespace-tools`, which is
   * on.
   */
  readonly namespaceTools?: boolean;
  /** Who approves tool calls of skills that fork. Default: nobody, so calls that need approval are denied. */
  readonly approve?: "all" | AskApproval;
  /** Every event of the runs of skills that fork. */
  readonly onEvent?: (event: RunEvent) => void;
  /** The folder its skills work in, and where project skills are searched. Default: the process's working directory. */
  readonly cwd?: string;
  /** Replaces the user's home folder. Default: `METIER_HOME` from the environment, or the OS home. */
  readonly home?: string;
  /** Replaces the process's environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A skill with its instructions; a list only has `info`. */
export interface LoadedSkill {
  /** The skill without its instructions. */
  readonly info: Skill;
  /** The instructions without the frontmatter; arguments aren't filled in. */
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

/** Finds and registers skills, and tracks the active ones and their tools. Create one with `SkillManager.create`. */
export class SkillManager {
  readonly #metier: Metier;
  readonly #request: Pick<RunRequest, "approve" | "onEvent">;
  /** By address, `scope:name`: tools passed with one skill must not reach another with its name. */
  readonly #tools = new Map<string, readonly Tool<unknown>[]>();
  readonly #active = new Set<string>();

  readonly #cwd: string;

  private constructor(metier: Metier, request: Pick<RunRequest, "approve" | "onEvent">, cwd: string) {
    this.#metier = metier;
    this.#request = request;
    this.#cwd = cwd;
  }

  /**
   * Creates a manager with the preset `mamba`. Two skills with the same name in one scope throw `SkillConflictError`,
   * unless `conflicts` says otherwise.
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
      // All others are options of `createMetier` with the same names.
      ...options
    } = config;
    const skills = presentFields({
      "project-dirs": skillsDirs,
      "user-dir": userSkillsDir,
      "namespace-tools": namespaceTools,
    });
    // The original system's workspace: its runs always have one, even if none is named.
    const cwd = resolve(options.cwd ?? process.cwd());
    const metier = await createMetier({
      // In the original system, two skills with the same name in one scope are an error.
      conflicts: "throw",
      ...options,
      cwd,
      preset: "mamba",
      config: { skills },
      ...presentFields({ paths: customPaths }),
    });
    return new SkillManager(metier, presentFields({ approve, onEvent }), cwd);
  }

  /** The underlying `Metier`. */
  get metier(): Metier {
    return this.#metier;
  }

  /** Searches all configured directories and returns the usable skills, known or new. */
  async discover(): Promise<readonly Skill[]> {
    await this.#metier.discover();
    return this.#metier.list().filter(({ location }) => location !== "");
  }

  /**
   * A path whose skill was already found returns that skill; one in a configured directory has that directory's scope
   * and trust. `tools` belong to the skill: they are available while it is active and when it runs.
   */
  async register(
    skill: RegistrableSkill,
    options: {
      /** The program's tools that come with the skill. */
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

  /** Removes a registered skill; deactivates it if it is active. */
  async deregister(name: string): Promise<void> {
    await this.#metier.deregister(name);
    // A registered folder takes all its skills with it.
    for (const address of [...this.#active, ...this.#tools.keys()]) {
      if (this.#metier.has(address)) continue;
      this.#tools.delete(address);
      this.#active.delete(address);
    }
  }

  /** The skill with a name or `scope:name`, whatever its status; `undefined` if there is none. */
  get(name: string): Skill | undefined {
    return this.#metier.get(name);
  }

  /** A skill with its instructions, read now. */
  async load(name: string): Promise<LoadedSkill | undefined> {
    const info = this.#metier.get(name);
    return info && { info, body: (await this.#metier.getInstructions(name)).text };
  }

  /** The usable skills, sorted by name. */
  list(): readonly Skill[] {
    return this.#metier.list();
  }

  /**
   * Returns the skill's instructions, read now, with arguments filled in, and activates its tools. A skill that forks
   * runs instead and returns its answer. A string of arguments is split as in a shell, a list isn't; missing arguments
   * are empty. Throws `SkillNotFoundError`, `SkillInvocationError` for a refusal or a run that didn't complete, and
   * `SkillParseError`, `SkillValidationError` or `SkillLoadError` if the file is no longer a skill.
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

  /** It isn't an error if the skill is inactive or unknown. */
  deactivate(name: string): void {
    this.#active.delete(this.#addressOf(name));
  }

  /** Whether the skill was activated and not deactivated since. A skill that forks is never active. */
  isActive(name: string): boolean {
    return this.#active.has(this.#addressOf(name));
  }

  /** The tools of the active skills, under distinct names. */
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

  /** Throws `SkillResourceError` if the file is missing, not text or outside the folder. */
  loadReference(name: string, file: string): string {
    return this.#metier.readResource(name, `${REFERENCES}${file}`, { as: "text" }).text ?? "";
  }

  /** Checks the skills at a path without loading them. */
  async validate(path: string | URL): Promise<ManagerValidation> {
    return summariseReport(await this.#metier.validate(path), String(path));
  }

  /** Of the skill with this name or address. */
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
      `The active skills \`${tools[first]?.skill}\` and \`${skill}\` both have a tool \`${name}\`.`,
      { hint: "Deactivate one of them, or set `skills.namespace-tools` to `true`." },
    );
  }
}

/** Validation results as plain messages. */
export interface ManagerValidation {
  /** Whether a skill was found and has no errors. */
  readonly valid: boolean;
  /** One message per error. */
  readonly errors: readonly string[];
  /** One message per warning. */
  readonly warnings: readonly string[];
  /** The first skill file; the requested path if it has no skill, `""` for an object. */
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
