/** The matchers about skills, registered and typed, as a program that tests its skills has them in a set-up file. */
import { expect } from "vitest";
import { type SkillMatchers, skillMatchers } from "../../src/testing/index.ts";

declare module "vitest" {
  interface Matchers<R, T> extends SkillMatchers {}
}

expect.extend(skillMatchers);
