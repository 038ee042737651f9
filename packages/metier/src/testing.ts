/** `metier/testing`: tests one skill alone. Importing it reads nothing, writes nothing and starts nothing. */
export { type Recording, readRecording } from "@metier/run/events";
export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedTurn,
  TextExpectation,
  TextPattern,
  TextRequirements,
  TurnExpectation,
} from "@metier/run/model";
export { createScriptedModel, type ManagerValidation, type ScriptedModel } from "@metier/runtime";
export {
  type CaseResult,
  createSkillHarness,
  listToolCalls,
  runSkillTests,
  type SkillFixtures,
  type SkillHarnessFactory,
  type SkillHarnessOptions,
  type SkillMatchers,
  SkillTestHarness,
  type SkillTestHarnessOptions,
  type SkillUnderTest,
  skillFixtures,
  skillMatchers,
  type TestedCall,
  type TestedSkill,
  type TestOptions,
  type TestPlace,
  type TestReport,
  type TestRequest,
  type TestRun,
  type TestRunRequest,
  type TestSetting,
} from "@metier/runtime/testing";
