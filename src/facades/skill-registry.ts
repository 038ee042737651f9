/** The registry other systems know, as a thin face over `createMetier`: one folder of skills, found and asked by name. */
import { SkillNotFoundError } from "../foundation/errors.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { MetierOptions } from "../runtime/metier-options.ts";
import type { Json } from "../skill/manifest.ts";
import type { Skill } from "../skill/skill.ts";

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

  /** Throws `SkillNotFoundError` when there is none of that name. */
  get(name: string): Skill {
    if (this.#metier === undefined)
      throw new SkillNotFoundError(name, undefined, { hint: "Call `discover` first." });
    return this.#metier.require(name);
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
}

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: Readonly<Record<string, Json>>;
}
