/** `metier/testing`, by name. Importing it reads nothing, writes nothing and starts nothing. */
export { type Recording, readRecording } from "../events/record.ts";
export type { ManagerValidation } from "../facades/manager-validation.ts";
export { createScriptedModel, type ScriptedModel } from "../facades/scripted-model.ts";
export type { Script, ScriptedAnswer, ScriptedCall, ScriptedTurn, TurnExpectation } from "../model/script.ts";
export type { TextExpectation, TextPattern, TextRequirements } from "../model/text-expectation.ts";
export type { TestPlace, TestSetting } from "./open-test-metier.ts";
export type { TestRequest, TestRun, TestRunRequest } from "./run-scripted.ts";
export {
  type CaseResult,
  runSkillTests,
  type SkillUnderTest,
  type TestOptions,
  type TestReport,
} from "./run-skill-tests.ts";
export {
  createSkillHarness,
  type SkillFixtures,
  type SkillHarnessFactory,
  type SkillHarnessOptions,
  skillFixtures,
} from "./skill-fixtures.ts";
export { type SkillMatchers, skillMatchers, type TestedSkill } from "./skill-matchers.ts";
export { SkillTestHarness, type SkillTestHarnessOptions } from "./skill-test-harness.ts";
export { listToolCalls, type TestedCall } from "./tool-calls.ts";
