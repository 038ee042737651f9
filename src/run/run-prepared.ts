/** A prepared invocation carried out: its folder made, everything set up, each event recorded, skills it starts started. */
import { mkdirSync, rmSync } from "node:fs";
import { openRecording } from "../events/record.ts";
import { tidyRuns } from "../events/remove-runs.ts";
import { runFolder } from "../events/run-log.ts";
import { type RunRecorder, type RunSink, shareSink } from "../events/run-recorder.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { createApprovals, createQuestionQueue, type QuestionQueue, queueQuestions } from "./approvals.ts";
import { type Budget, createBudget } from "./budget.ts";
import { deliverValues } from "./deliver-values.ts";
import { failedResult, refusedResult } from "./ended-early.ts";
import { invokeSkill } from "./invoke-skill.ts";
import { openRecorder } from "./open-recorder.ts";
import { rawMessageOf } from "./raw-message.ts";
import { retryingModel } from "./retrying-model.ts";
import type { RunHost } from "./run-host.ts";
import { runIsolated } from "./run-isolated.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";
import { createScriptPlaces } from "./script-place.ts";
import { type PlanInput, type PlanOutcome, type RunPlan, setUpRun } from "./set-up-run.ts";
import type { InvokeFromModel } from "./use-skill.ts";

export interface RunOrder {
  readonly prepared: PreparedInvocation;
  readonly request: RunRequest;
  readonly host: RunHost;
  readonly runId: string;
  readonly parent?: RunParent;
}

export async function runPrepared(order: RunOrder): Promise<RunResult> {
  const { prepared, request, host, runId, parent } = order;
  if (parent === undefined) tidyRuns(host.places);
  const own = parent || request.record === undefined ? undefined : openRecording(request.record);
  const recording = own ?? (parent?.recording && shareSink(parent.recording));
  const abandon = (): void => {
    own?.discard();
    rmSync(runFolder(host.places, runId).folder, { recursive: true, force: true });
  };
  const abandonAndThrow = (fault: unknown): never => {
    abandon();
    throw fault;
  };
  const questions = parent?.questions ?? createQuestionQueue();
  const started: { run?: StartedRun } = {};
  const asking = { ...order, request: queueQuestions(request, questions) };
  const current = (): StartedRun => {
    if (started.run === undefined) throw new Error("A tool was called before the run began.");
    return started.run;
  };
  const reachedByScripts = new Set<string>();
  const outcome = await planIn(asking, {
    questions,
    invoke: (child, signal) => startChild(child, signal, order, current()),
    openScript: createScriptPlaces({
      host,
      parent: () => asParent(order, current()),
      request: inherited(order),
      reached: reachedByScripts,
      runId,
      capabilityNotes: () => current().plan.capabilityNotes,
    }),
  }).catch(abandonAndThrow);
  if (!outcome.ok) {
    abandon();
    return "refusal" in outcome
      ? refusedResult(runId, outcome.refusal)
      : failedResult(runId, prepared, outcome.fault);
  }
  const { plan } = outcome;
  const recorder = await openRecorder({
    places: host.places,
    runId,
    redactor: plan.redactor,
    recording,
    ...(request.onEvent && { onEvent: request.onEvent }),
  }).catch(async (fault: unknown) => {
    await plan.close();
    return abandonAndThrow(fault);
  });
  const budget = createBudget(plan.limits, parent?.budget);
  started.run = { plan, budget, recorder, questions, ...(recording && { recording }) };
  parent?.onChild({ runId, skill: prepared.skill.name });
  const result = await runIsolated({
    ...plan,
    get world() {
      return plan.world;
    },
    get reached() {
      return new Set([...plan.reached, ...reachedByScripts]);
    },
    model: { ...plan.model, model: retryingModel(plan.model.model, recorder) },
    ...(parent?.runId !== undefined && { parentRunId: parent.runId }),
    approvals: createApprovals({
      skill: prepared.skill.name,
      queue: questions,
      ...(request.approve && { approve: request.approve }),
    }),
    outputFilter: host.config().config.runs.outputFilter,
    env: () => deliverValues(plan.prepared, plan.memory),
    ...(parent === undefined && { missingFromReplay: () => plan.model.replay?.unfinished()[0] }),
    budget,
    emit: (event) => recorder.emit(event),
    ...(request.signal && { signal: request.signal }),
  }).finally(() => plan.close());
  await recorder.close();
  return { ...result, diagnostics: [...plan.diagnostics, ...result.diagnostics, ...recorder.diagnostics] };
}

/** What a run would be, without running: the folder that was made for it is taken away again. */
export async function planOnly(order: RunOrder): Promise<PlanOutcome> {
  try {
    const never = (): Promise<never> => Promise.reject(new Error("Nothing runs in a plan."));
    const doors = { invoke: never, openScript: never, questions: createQuestionQueue() };
    const outcome = await planIn({ ...order, isDry: true }, doors);
    if (outcome.ok) await outcome.plan.close();
    return outcome;
  } finally {
    rmSync(runFolder(order.host.places, order.runId).folder, { recursive: true, force: true });
  }
}

async function planIn(
  order: RunOrder & Pick<PlanInput, "isDry">,
  doors: Pick<PlanInput, "invoke" | "openScript" | "questions">,
): Promise<PlanOutcome> {
  const { work } = runFolder(order.host.places, order.runId);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  return setUpRun({ ...order, ...doors, workDir: order.request.workDir ?? work });
}

interface StartedRun {
  readonly plan: RunPlan;
  readonly budget: Budget;
  readonly recorder: RunRecorder;
  readonly questions: QuestionQueue;
  readonly recording?: RunSink;
}

async function startChild(
  child: Parameters<InvokeFromModel>[0],
  signal: AbortSignal,
  order: RunOrder,
  started: StartedRun,
): ReturnType<InvokeFromModel> {
  const parent = asParent(order, started);
  const outcome = await invokeSkill({ ...child, ...inherited(order), signal }, order.host, { parent });
  if (outcome.kind === "inline") started.plan.follow(outcome.prepared);
  return outcome;
}

/** For a skill that this run starts: it has at most what this run has. */
function asParent(
  { prepared, runId }: RunOrder,
  { plan, budget, recorder, questions, recording }: StartedRun,
): RunParent {
  return {
    runId,
    chain: [...prepared.chain, prepared.skill.name],
    trust: prepared.trust.level,
    memory: plan.memory,
    policy: plan.policy,
    network: plan.network,
    world: plan.world,
    budget,
    model: plan.model,
    redactor: plan.redactor,
    questions,
    ...(recording && { recording }),
    onChild: (started) =>
      recorder.emit({ type: "child-started", childRunId: started.runId, skill: started.skill }),
  };
}

/** A skill that this run starts is asked for by a model, for the same caller. */
function inherited({ prepared, request }: RunOrder): Omit<RunRequest, "skill"> {
  const { approve, askUser, confirm, tools, write, privateFiles, onEvent, onProgress } = request;
  const userMessage = rawMessageOf(request);
  return {
    source: "model",
    caller: prepared.caller,
    ...(approve && { approve }),
    ...(askUser && { askUser }),
    ...(confirm && { confirm }),
    ...(userMessage !== undefined && { userMessage }),
    ...(tools && { tools }),
    ...(write !== undefined && { write }),
    ...(privateFiles && { privateFiles }),
    ...(onEvent && { onEvent }),
    ...(onProgress && { onProgress }),
  };
}
