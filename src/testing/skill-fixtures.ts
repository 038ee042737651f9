/**
 * The harness as a fixture of Vitest: `const test = base.extend(skillFixtures)`. Says what Vitest needs without naming it,
 * so that the harness can be used where Vitest is not installed.
 */
import { SkillTestHarness, type SkillTestHarnessOptions } from "./skill-test-harness.ts";

export interface SkillHarnessOptions extends Omit<SkillTestHarnessOptions, "skillPath"> {
  /** A skill's folder or its file. */
  readonly path?: string | URL;
}

/** Makes a harness; throws `UsageError` without a skill. */
export type SkillHarnessFactory = (options: SkillHarnessOptions) => SkillTestHarness;

export interface SkillFixtures {
  skillHarness: (context: object, use: (factory: SkillHarnessFactory) => Promise<void>) => Promise<void>;
}

export const createSkillHarness: SkillHarnessFactory = ({ path, ...options }) =>
  new SkillTestHarness({ ...options, ...(path !== undefined && { skillPath: path }) });

export const skillFixtures: SkillFixtures = {
  // Vitest reads from the braces which other fixtures this one needs: none.
  // biome-ignore lint/correctness/noEmptyPattern: see above
  skillHarness: async ({}, use) => use(createSkillHarness),
};
