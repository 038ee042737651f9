/** The door `@metier/skills/formats` for other packages. */
export { parseYamlValue } from "./config/formats/yaml-document.ts";
export { checkEvalFiles, locateScript } from "./eval-files/check-evals.ts";
export type {
  Assertion,
  AssertionCheck,
  EvalCase,
  InputFile,
  TriggerQuery,
} from "./eval-files/eval-case.ts";
export { evalsJsonSchema, queriesJsonSchema } from "./eval-files/evals-schema.ts";
export { readAssertion } from "./eval-files/read-assertion.ts";
export { chooseEvals, EVALS_FILE } from "./eval-files/read-evals.ts";
export {
  collectQueries,
  findQueryFile,
  QUERY_FILES,
  type RoutingQueries,
  type RoutingQuery,
  readJsonFile,
  readQueries,
  readRoutingQueries,
} from "./eval-files/read-queries.ts";
export { compileExactPattern } from "./find/trigger-pattern.ts";
export { renderLock } from "./lock/lock-file-format.ts";
export { changeLock, collectGarbage, readLock } from "./lock/lock-store.ts";
