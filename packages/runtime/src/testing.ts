/** The exports of `@metier/runtime/testing`. */

export { countTestCases, testFileJsonSchema } from "./testing/check-test-files.ts";
export {
  type CaseResult,
  runSkillTests,
  type SkillUnderTest,
  type TestOptions,
  type TestReport,
} from "./testing/run-skill-tests.ts";
export {
  createSkillHarness,
  type SkillFixtures,
  type SkillHarnessFactory,
  type SkillHarnessOptions,
  type SkillMatchers,
  SkillTestHarness,
  type SkillTestHarnessOptions,
  skillFixtures,
  skillMatchers,
  type TestedSkill,
} from "./testing/skill-test-harness.ts";
export {
  listToolCalls,
  type TestedCall,
  type TestPlace,
  type TestRequest,
  type TestRun,
  type TestRunRequest,
  type TestSetting,
} from "./testing/test-metier.ts";
