/** Every assertion of an eval decided for one run, in their order, each in its own way. */
import { join } from "node:path";
import type { RunEvent } from "../../events/run-event.ts";
import type { Arm, OpenMetier } from "../arms.ts";
import type { Assertion, Check, EvalCase } from "../eval-set.ts";
import type { RecordedRequest } from "../recordings.ts";
import type { EvalRun } from "../run-eval.ts";
import { askGrader } from "./ask-grader.ts";
import { checkByScript, type ScriptOrder } from "./check-script.ts";
import { checkText } from "./check-text.ts";
import type { GradedAssertion } from "./graded.ts";

export interface GradeOrder {
  readonly open: OpenMetier;
  /** The skill under test. */
  readonly skill: Arm;
  readonly evalCase: EvalCase;
  readonly run: EvalRun;
  /** A folder that is this run's alone. */
  readonly folder: string;
  graderRequest(attempt: number): RecordedRequest;
  readonly signal: AbortSignal;
  onEvent(event: RunEvent): void;
}

export async function gradeRun(order: GradeOrder): Promise<readonly GradedAssertion[]> {
  const { evalCase, run } = order;
  const { assertions } = evalCase;
  const { workspace, fault } = run;
  if (fault !== undefined || workspace === undefined) {
    return assertions.map(({ text }) => ({ text, passed: false, evidence: fault ?? "There was no run." }));
  }
  const made = { answer: run.answer, files: run.files.map(({ path }) => path), workspace: workspace.folder };
  const forModel = assertions.filter(({ check }) => check.kind === "model");
  const judged =
    forModel.length === 0
      ? []
      : [...(await askGrader({ ...order, ...made, assertions: forModel, request: order.graderRequest }))];
  const graded: GradedAssertion[] = [];
  for (const [index, assertion] of assertions.entries()) {
    const { check } = assertion;
    const folder = join(order.folder, `check-${index + 1}`);
    const verdict =
      check.kind === "model" ? judged.shift() : await decide(assertion, check, { ...order, ...made, folder });
    if (verdict) graded.push(verdict);
  }
  return graded;
}

async function decide(
  assertion: Assertion,
  check: Exclude<Check, { kind: "model" }>,
  order: ScriptOrder,
): Promise<GradedAssertion> {
  if (check.kind === "script") return checkByScript(assertion, check, order);
  return checkText(assertion, check, { answer: order.answer, folder: order.workspace });
}
