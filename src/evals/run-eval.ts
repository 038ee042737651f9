/** One run of one eval on one side: a workspace of its own, a conversation of its own, and what it left. */
import { join } from "node:path";
import type { RunEvent } from "../events/run-event.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunResult } from "../run/run-result.ts";
import { type Arm, type OpenMetier, openArm } from "./arms.ts";
import type { EvalCase } from "./eval-set.ts";
import type { RecordedRequest } from "./recordings.ts";
import { makeWorkspace, type Workspace } from "./workspace.ts";

export interface EvalRunOrder {
  readonly open: OpenMetier;
  readonly arm: Arm;
  readonly evalCase: EvalCase;
  /** Where its input files lie: the skill under test, whichever side runs. */
  readonly skillDirectory: string;
  /** A folder that is this run's alone. */
  readonly folder: string;
  readonly request: Pick<RunRequest, "approve" | "caller" | "limits" | "signal"> & RecordedRequest;
  onEvent(event: RunEvent): void;
}

export interface EvalRun {
  readonly workspace?: Workspace;
  /** What was said, also by a run that did not end well. */
  readonly answer: string;
  /** What it made or changed. */
  readonly files: RunResult["files"];
  readonly model: string;
  readonly tokens: number;
  readonly durationMs: number;
  readonly toolCalls: Readonly<Record<string, number>>;
  readonly denied: RunResult["denied"];
  /** Why there is nothing to grade. */
  readonly fault?: string;
  /** It was ended from outside, so it says nothing about the skill. */
  readonly isStopped: boolean;
}

export async function runEval(order: EvalRunOrder): Promise<EvalRun> {
  const { open, arm, evalCase, skillDirectory, folder, request } = order;
  const made = makeWorkspace(join(folder, "workspace"), skillDirectory, evalCase.files);
  if (!made.ok) return { ...NOTHING, fault: made.message };
  const { workspace } = made;
  const metier = await openArm(open, arm, workspace.folder);
  const toolCalls: Record<string, number> = {};
  try {
    const result = await metier.run({
      ...request,
      skill: arm.skill,
      message: evalCase.prompt,
      source: "code",
      workDir: workspace.folder,
      ...(workspace.inputs.length > 0 && { context: describeInputs(workspace.inputs) }),
      onEvent(event) {
        if (event.type === "tool-called") toolCalls[event.tool] = (toolCalls[event.tool] ?? 0) + 1;
        order.onEvent(event);
      },
    });
    const fault = describeFault(result);
    return {
      workspace,
      answer: result.text,
      files: workspace.changed(result.files),
      model: result.model,
      tokens: result.usage.totalTokens,
      durationMs: result.durationMs,
      toolCalls,
      denied: result.denied,
      isStopped: result.status === "cancelled",
      ...(fault !== undefined && { fault }),
    };
  } finally {
    await metier.capabilities.close();
  }
}

const NOTHING: EvalRun = {
  answer: "",
  files: [],
  model: "",
  tokens: 0,
  durationMs: 0,
  toolCalls: {},
  denied: [],
  isStopped: false,
};

function describeInputs(files: readonly string[]): string {
  return `Files for the task are in the working directory: ${files.join(", ")}. Files that you make belong there, too.`;
}

/** A limit is the skill's own doing: what it had by then is graded. */
function describeFault({ status, refusal, error }: RunResult): string | undefined {
  if (refusal) return `The run was refused: ${refusalText(refusal)}`;
  return status === "failed" ? `The run failed: ${error?.message ?? "no reason was given"}` : undefined;
}
