/** The matchers about skills, registered and typed, as a program that tests its skills has them in a set-up file. */
import { type SkillMatchers, skillMatchers } from "metier/testing";
import { expect } from "vitest";

declare module "vitest" {
  interface Matchers<R, T> extends SkillMatchers {}
}

expect.extend(skillMatchers);
