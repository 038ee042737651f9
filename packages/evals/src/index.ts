/** The exports of `@metier/evals` for other packages. */

export { evaluateSkill } from "./evaluate-skill.ts";
export type {
  ArmName,
  ArmSummary,
  EvalProgress,
  Evaluation,
  EvaluationOptions,
  IterationComparison,
} from "./evaluation.ts";
export { makeIteration, type RecordingChoice, writeJson } from "./evaluation-files.ts";
export { compareDescriptions, findByDescription } from "./routing/compare-descriptions.ts";
export { type DescriptionReport, describeRouting } from "./routing/describe-skill.ts";
export { evaluateRouting, type Routing, type RoutingEvaluation } from "./routing/evaluate-routing.ts";
export { evaluateTriggers, type QueryResult, type TriggerEvaluation } from "./routing/evaluate-triggers.ts";
export { rewriteDescription } from "./routing/rewrite-description.ts";
export type { OpenMetier } from "./run-eval.ts";
export type { SpendingLimits } from "./spending.ts";
