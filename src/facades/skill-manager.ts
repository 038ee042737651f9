/** The manager other systems know, as a thin face over `createMetier`: directories in, skills by name out. */

import type { GivenSkill } from "../catalog/given-skills.ts";
import type { ValidationResult } from "../catalog/validate-paths.ts";
import { createMetier, type Metier } from "../runtime/create-metier.ts";
import type { Skill } from "../skill/skill.ts";

export interface SkillManagerConfig {
  /** Project skill directories, relative to the working directory. */
  readonly skillsDirs?: readonly string[];
  /** `~` is the home folder. */
  readonly userSkillsDir?: string;
  readonly customPaths?: readonly string[];
  readonly trustedPaths?: readonly string[];
  /** Whether `SkillManager.create` finds skills at once. Default: the config's `skills.auto-discover`, which is on. */
  readonly autoDiscover?: boolean;
  readonly cwd?: string;
  readonly home?: string;
}

export interface ManagerValidation {
  readonly valid: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly skillPath: string;
}

export class SkillManager {
  readonly #metier: Metier;

  private constructor(metier: Metier) {
    this.#metier = metier;
  }

  static async create(config: SkillManagerConfig = {}): Promise<SkillManager> {
    const { skillsDirs, userSkillsDir, customPaths, trustedPaths, autoDiscover, cwd, home } = config;
    const skills = {
      ...(skillsDirs && { "project-dirs": skillsDirs }),
      ...(userSkillsDir !== undefined && { "user-dir": userSkillsDir }),
    };
    return new SkillManager(
      await createMetier({
        preset: "mamba",
        config: { skills },
        ...(autoDiscover !== undefined && { autoDiscover }),
        ...(customPaths && { paths: customPaths }),
        ...(trustedPaths && { trustedPaths }),
        ...(cwd !== undefined && { cwd }),
        ...(home !== undefined && { home }),
      }),
    );
  }

  /** The skills that were not known before. */
  discover(): Promise<readonly Skill[]> {
    return this.#metier.discover();
  }

  register(skill: string | URL | GivenSkill): Promise<Skill> {
    return this.#metier.register(skill);
  }

  get(name: string): Skill | undefined {
    return this.#metier.get(name);
  }

  list(): readonly Skill[] {
    return this.#metier.list();
  }

  async validate(path: string | URL): Promise<ManagerValidation> {
    const { valid, results, diagnostics } = await this.#metier.validate(path);
    const all = [...diagnostics, ...results.flatMap((result: ValidationResult) => result.diagnostics)];
    const messages = (severity: string): readonly string[] =>
      all.filter((entry) => entry.severity === severity).map(({ message }) => message);
    return {
      valid,
      errors: messages("error"),
      warnings: messages("warning"),
      skillPath: results[0]?.path ?? String(path),
    };
  }
}
