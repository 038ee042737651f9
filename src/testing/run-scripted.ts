/** A run of a skill under test, and what was seen of it. A script that does not fit what happens is a fault of the test. */
import { resolve } from "node:path";
import type { RunEvent } from "../events/run-event.ts";
import { describeEnding } from "../facades/invocation-text.ts";
import { UsageError } from "../foundation/errors.ts";
import type { Script } from "../model/script.ts";
import { createScriptedModel, type ScriptedModel, ScriptMismatchError } from "../model/scripted-model.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { RunResult } from "../run/run-result.ts";
import type { TestMetier, TestPlace } from "./open-test-metier.ts";
import { listToolCalls, type TestedCall } from "./tool-calls.ts";

/** What is asked of the skill; it is named already. */
export type TestRequest = Omit<RunRequest, "skill">;

export interface TestRunRequest extends TestRequest {
  /** What the model answers, turn by turn. A question that is not expected fails, and so does a turn nobody asked for. */
  readonly script?: Script;
  /** In place of a script: a recording, made with `record`. */
  readonly replay?: string;
  /** In place of the empty folders that are gone after the run. */
  readonly place?: TestPlace;
}

export interface TestRun {
  readonly result: RunResult;
  /** The tools that were called, in order. */
  readonly calls: readonly TestedCall[];
  readonly events: readonly RunEvent[];
}

/** Throws when the script was not followed to its end. */
export async function runScripted(
  { metier, skill }: TestMetier,
  { script, replay, place: _place, ...request }: TestRunRequest,
): Promise<TestRun> {
  const scripted = script && createScriptedModel(script, skill.name);
  const model = scripted ?? (replay === undefined ? request.model : `replay:${resolve(replay)}`);
  if (model === undefined) {
    throw new UsageError("A run of a test needs something that answers in place of a model.", {
      hint: "Give `script`, or the recording to `replay`.",
    });
  }
  const events: RunEvent[] = [];
  const onEvent = (event: RunEvent): void => {
    events.push(event);
    request.onEvent?.(event);
  };
  try {
    const result = await metier.run({ ...request, skill: skill.name, model, onEvent });
    if (scripted) refuseMismatch(scripted, result);
    return { result, calls: listToolCalls(events, result.runId), events };
  } finally {
    await metier.capabilities.close();
  }
}

function refuseMismatch(model: ScriptedModel, result: RunResult): void {
  const { status, error } = result;
  if (error?.code === "model.unscripted") throw new ScriptMismatchError(error.message);
  try {
    model.assertDone();
  } catch (fault) {
    if (status === "completed") throw fault;
    throw new ScriptMismatchError(
      `${(fault as Error).message} Before, the run ended: ${describeEnding(result)}`,
    );
  }
}
