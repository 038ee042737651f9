/**
 * A run from set-up to result, for a skill or a chat turn: one start, one loop, one end. It shares nothing with other
 * runs, and nothing that happens in it is thrown.
 */
import { mkdirSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { removeFolder } from "@metier/base/files";
import type { Result } from "@metier/base/result";
import { identifyContent } from "@metier/skills/trust";
import type { ModelMessage } from "ai";
import type { DurableRunParts } from "../durable/durable-run.ts";
import type { Leave } from "../durable/parking.ts";
import { rememberUse } from "../durable/remember-use.ts";
import type { RunEventBody } from "../events/run-event.ts";
import { runFolder } from "../events/run-log.ts";
import { describeFault } from "../model/describe-fault.ts";
import { askStopHooks } from "./hooks/run-hooks.ts";
import { listWorkFiles } from "./kept-files.ts";
import { beginRun, type LiveRun } from "./live-run.ts";
import { type LoopOutcome, NOTHING_SAID, takeSteps } from "./loop.ts";
import { type HeldOutput, holdOutput, OutputFault } from "./output-contract.ts";
import type { RunContext, RunGiven } from "./run-context.ts";
import { keepingOf } from "./run-request.ts";
import { cancelledResult, type RunResult } from "./run-result.ts";
import { deliverValues } from "./run-secrets.ts";

export interface CarriedOut {
  readonly result: RunResult;
  /** What it added to the conversation after its message: whole steps only. */
  readonly messages: readonly ModelMessage[];
  /** For a failed run: the provider's or stream's error. */
  readonly fault?: unknown;
  /** Which limit was reached, in words. */
  readonly limitMessage?: string | undefined;
  /** For a durable run that didn't end here: why it left. Its result is then meaningless. */
  readonly left?: Leave | undefined;
}

/** `decide`: everything before the first step, or how the run ended instead. Registers what it opens. */
export async function carryOut(
  given: RunGiven,
  decide: (given: RunGiven) => Promise<Result<RunContext, RunResult>>,
): Promise<CarriedOut> {
  const setUp = await setUpRun(given, decide);
  if (!setUp.ok) return { result: await rememberUse(setUp.refusal, given.durable?.steps), messages: [] };
  const context = setUp.value;
  const { recorder } = context;
  const { durable } = context;
  const startedAt = performance.now() - (durable?.steps.activeMs() ?? 0);
  if (durable?.steps.isResumed) {
    const { subject, model } = context;
    const activeMs = durable.steps.activeMs();
    recorder.emit({ type: "run-resumed", skill: subject.skill.name, model: model.id, activeMs });
  } else {
    context.parent?.onChild({ runId: context.runId, skill: context.subject.skill.name });
    recorder.emit(describeStart(context));
  }
  const live = beginRun(context);
  let ended: CarriedOut;
  try {
    if (durable?.steps.isResumed) await recallUses(context, durable);
    const { outcome, held } = await loopToAnswer(live);
    live.stop.end();
    await live.slots.idle(); // A stopped tool still ends its processes; nothing outlives the run.
    await context.capabilityNotes.end();
    if (durable?.parking.leave !== undefined) return await leave(context, durable.parking.leave);
    ended = finish(live, outcome, held, startedAt);
  } finally {
    live.stop.end();
    await closeRun(context);
  }
  await recorder.close();
  dropFolder(context, context.isIsolated);
  const diagnostics = [...context.diagnostics(ended.result.diagnostics), ...recorder.diagnostics];
  return { ...ended, result: { ...ended.result, diagnostics } };
}

/** Capability calls from before the run was resumed are part of its result. */
async function recallUses({ host, capabilityNotes }: RunContext, { steps }: DurableRunParts): Promise<void> {
  if (host.capabilities === undefined) return;
  for await (const event of steps.earlier()) {
    if (event.type === "capability-called") capabilityNotes.recall(event);
  }
}

/** The run continues elsewhere: its events are kept, and no end is reported. */
async function leave(context: RunContext, left: Leave): Promise<CarriedOut> {
  await context.durable?.steps.settle().catch(() => undefined); // Only a run that lost its lease can't.
  await context.recorder.close();
  const { runId, subject } = context;
  return { result: cancelledResult(runId, subject.skill.name), messages: [], left };
}

interface Answered {
  readonly outcome: LoopOutcome;
  /** Absent: it has no schema, or doesn't match it. */
  readonly held?: HeldOutput | undefined;
}

/** Until it has answered, and neither its hooks nor its output schema send it back to work. */
async function loopToAnswer(live: LiveRun): Promise<Answered> {
  let outcome = await takeSteps(live, NOTHING_SAID);
  let repaired = 0;
  for (let continued = 0; outcome.ended === "answered"; ) {
    const asked = await askStopHooks(live, outcome, continued);
    outcome = asked.outcome;
    if (asked.goesOn) continued += 1;
    else {
      const checked = await holdOutput(live, outcome, repaired);
      if (!checked.goesOn) return checked;
      outcome = checked.outcome;
      repaired += 1;
    }
    outcome = await takeSteps(live, outcome);
  }
  return { outcome };
}

function describeStart(context: RunContext): RunEventBody {
  const { subject, place, model, tools, parent } = context;
  const { workDir, skillDir, cwd } = place.world;
  return {
    type: "run-started",
    skill: subject.skill.name,
    source: subject.source,
    location: subject.skill.location,
    digest: digestOf(subject.skill),
    trust: subject.trust.level,
    model: model.id,
    depth: subject.chain.length,
    userId: subject.caller.userId,
    tenantId: subject.caller.tenantId,
    parentRunId: parent?.runId,
    tools: tools.map(({ name }) => name),
    workDir,
    skillDir,
    cwd,
    env: Object.keys(deliverValues(subject, context.memory)).sort(),
  };
}

/** A larger skill isn't hashed before a run: its version is known if it is locked or granted. */
const HASHED = { entries: 2_000, bytes: 32 * 1024 * 1024 };

function digestOf({ form, location, directory }: RunContext["subject"]["skill"]): string | undefined {
  if (form === undefined || directory === undefined || location === "") return undefined;
  const identity = identifyContent({ form, location, directory }, HASHED);
  return identity.ok ? identity.value.digest : undefined;
}

function finish(
  live: LiveRun,
  outcome: LoopOutcome,
  held: HeldOutput | undefined,
  startedAt: number,
): CarriedOut {
  const { context, used } = live;
  const { subject, place, redactor, recorder } = context;
  const { limitMessage, ...ending } = describeEnding(live, outcome);
  const summary = {
    ...ending,
    text: redactor.redact(held?.text ?? live.text.value), // Parts of an answer were redacted separately.
    iterations: live.model.steps,
    usage: context.budget.usage,
    cost: context.budget.isPriced ? context.budget.cost : undefined,
    durationMs: Math.round(performance.now() - startedAt),
  };
  const sandbox: RunResult["sandbox"] = {
    backend: place.sandbox?.backend ?? "absent",
    declared: place.declared,
    granted: place.granted,
    used: redactor.redactJson(used.list(place.reached)),
  };
  const capabilities = redactor.redactJson(context.capabilityNotes.list());
  const called = capabilities.length > 0 && { capabilities };
  recorder.emit({ type: "run-finished", ...summary, sandbox, ...called });
  const left = listWorkFiles(place.world.workDir);
  const result: RunResult = {
    runId: context.runId,
    skill: subject.skill.name,
    isolated: context.isIsolated,
    trust: subject.trust.level,
    model: context.model.id,
    ...summary,
    ...(held && { object: held.object }),
    denied: redactor.redactJson(live.denied),
    files: left.files,
    sandbox,
    ...called,
    diagnostics: [...live.diagnostics, ...used.diagnostics(subject.skill.location), ...left.diagnostics],
  };
  return { result, messages: outcome.messages, fault: outcome.error, limitMessage };
}

type Ending = Pick<RunResult, "status" | "limit" | "error"> & Pick<CarriedOut, "limitMessage">;

function describeEnding({ context, stop }: LiveRun, outcome: LoopOutcome): Ending {
  const { redactor } = context;
  const reached = stop.reached();
  const broken = stop.failed();
  if (broken) return { status: "failed", error: broken };
  if (outcome.ended === "answered") {
    // A replay that ends before its recording differs from it. A chat may continue.
    const isWhole = context.isIsolated && context.parent === undefined;
    const message = isWhole ? context.model.replay?.unfinished()[0] : undefined;
    if (message === undefined) return { status: "completed" };
    return { status: "failed", error: { code: "replay.diverged", message: redactor.redact(message) } };
  }
  if (stop.cancelled) return { status: "cancelled" };
  if (outcome.error instanceof OutputFault) {
    const { code, message } = outcome.error;
    return { status: "failed", error: { code, message: redactor.redact(message) } };
  }
  if (outcome.ended === "failed" && !reached) {
    const { code, message } = describeFault(outcome.error, context.model);
    return { status: "failed", error: { code, message: redactor.redact(message) } };
  }
  const { limit = reached?.limit ?? "iterations", iterations } = outcome;
  const used =
    limit === "tokens"
      ? "the model's answer reached its token limit"
      : `used ${iterations} of ${context.limits.maxIterations} steps`;
  const limitMessage = reached?.message ?? used;
  context.recorder.emit({ type: "limit-reached", limit, message: limitMessage });
  return { status: "limited", limit, limitMessage };
}

/** Sets up a run: decides everything, and cleans up if it comes to nothing. */
export async function setUpRun<Value, Why>(
  given: RunGiven,
  decide: (given: RunGiven) => Promise<Result<Value, Why>>,
): Promise<Result<Value, Why>> {
  try {
    const { work } = runFolder(given.host.places, given.workRunId);
    mkdirSync(work, { recursive: true, mode: 0o700 });
    const outcome = await decide(given);
    if (!outcome.ok) await abandonRun(given);
    return outcome;
  } catch (fault) {
    await abandonRun(given);
    throw fault;
  }
}

/** Closes what was opened for a run, whatever the outcome. */
export async function closeRun({ opened }: RunGiven): Promise<void> {
  for (const part of opened.splice(0).reverse()) await part.close();
}

/**
 * If runs aren't kept in files, a run's folder is removed with it. Later chat turns work in the first one's folder, so
 * a folder with files stays as long as runs are kept.
 */
export function dropFolder({ host, runId, workRunId }: RunGiven, isAlone = true): void {
  if (keepingOf(host).keepsFolders) return;
  try {
    if (isAlone) removeFolder(runFolder(host.places, runId).folder);
    else removeEmpty(runFolder(host.places, workRunId));
  } catch {
    // It is removed with old runs; the result has listed its contents.
  }
}

function removeEmpty({ folder, work }: ReturnType<typeof runFolder>): void {
  if (readdirSync(work).length > 0) return;
  rmdirSync(work);
  rmdirSync(folder);
}

/** Nothing is kept of a run that didn't start; a run that another process started, or has now, did start. */
export async function abandonRun(given: RunGiven): Promise<void> {
  await closeRun(given);
  given.recording?.discard?.();
  const { steps } = given.durable ?? {};
  if (steps?.isResumed || steps?.lost.aborted) return;
  rmSync(runFolder(given.host.places, given.runId).folder, { recursive: true, force: true });
}
