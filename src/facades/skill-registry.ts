/** The registry other systems know, as a thin face over `createMetier`: one folder of skills, found and asked by name. */
import { type ResolvedSkillSettings, skillSettings } from "../config/skill-settings.ts";
import { SkillNotFoundError } from "../foundation/errors.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions } from "../runtime/metier-options.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";
import { defineSkill, type SkillDefinition } from "./skill-definition.ts";

export type SkillSettings = ResolvedSkillSettings;

export class SkillRegistry {
  readonly #options: MetierOptions;
  #metier: Metier | undefined;

  constructor(options: MetierOptions = {}) {
    this.#options = options;
  }

  /** Finds the skills of a workspace: with the `ash` preset those in its `workspace/skills` and the user's own. */
  async discover(workspace: string): Promise<void> {
    this.#metier = await createMetier({ ...this.#options, cwd: workspace, autoDiscover: true });
  }

  /** What is behind it; `undefined` before `discover`. */
  get metier(): Metier | undefined {
    return this.#metier;
  }

  /** Throws `SkillNotFoundError` when there is none of that name. */
  get(name: string): Skill {
    return this.#discovered(name).require(name);
  }

  /** A skill with its instructions, which are read now. Throws as `get` does. */
  async getDefinition(name: string): Promise<SkillDefinition> {
    const metier = this.#discovered(name);
    const { maxIterations } = metier.config.config.runs;
    return defineSkill(metier.require(name), await metier.getInstructions(name), maxIterations);
  }

  /** What the configuration says of a skill, the defaults of all skills put in. Throws as `get` does. */
  getSettings(name: string): SkillSettings {
    const metier = this.#discovered(name);
    return skillSettings(metier.config.config, metier.require(name).name);
  }

  has(name: string): boolean {
    return this.#metier?.has(name) ?? false;
  }

  /** All names, also of skills that cannot be used. */
  listNames(): readonly string[] {
    return this.#metier?.names({ includeDisabled: true, includeUnavailable: true }) ?? [];
  }

  /** The skills that can be used on this machine. */
  listAvailable(): readonly Skill[] {
    return this.#metier?.list() ?? [];
  }

  /** Checks a file without loading it: whether it is valid, and the first reason why not. */
  async validateSkillFile(path: string | URL): Promise<readonly [valid: boolean, error: string | null]> {
    const metier = this.#metier ?? (await createMetier({ ...this.#options, autoDiscover: false }));
    const { valid, results, diagnostics } = await metier.validate(path);
    const all = [...diagnostics, ...results.flatMap((result) => result.diagnostics)];
    return [valid, all.find(({ severity }) => severity === "error")?.message ?? null];
  }

  /** What a model needs to know of each usable skill. */
  getDefinitions(): readonly SkillSummary[] {
    return this.listAvailable().map(({ name, description, manifest }) => ({
      name,
      description,
      ...(manifest.inputSchema && { inputSchema: manifest.inputSchema }),
    }));
  }

  #discovered(name: string): Metier {
    if (this.#metier) return this.#metier;
    throw new SkillNotFoundError(name, undefined, { hint: "Call `discover` first." });
  }
}

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: Readonly<Record<string, Json>>;
}
