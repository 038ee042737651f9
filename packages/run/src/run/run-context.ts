/**
 * A run's input and the decisions made before its first step: created once, passed along as one value, the same for a
 * skill and a chat turn. Don't spread or copy it: its place and policy change while it runs.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { openLog } from "@metier/base/diagnostic";
import type { World } from "@metier/sandbox";
import type { Redactor } from "@metier/sandbox/secrets";
import type { Skill, Trust } from "@metier/skills";
import type { OutputFilterMode } from "@metier/skills/config";
import type { ModelMessage } from "ai";
import type { NamedAgent } from "../agents/agent.ts";
import { durableChildren, followChild, nameChild, noteChild } from "../durable/durable-children.ts";
import type { DurableRunParts } from "../durable/durable-run.ts";
import { openCostLedger } from "../events/cost-ledger.ts";
import { createLogSink } from "../events/log-lines.ts";
import { openRecording, runFolder } from "../events/run-log.ts";
import { createRunRecorder, type RunRecorder, type RunSink, shareSink } from "../events/run-recorder.ts";
import { createSpanSink } from "../events/spans.ts";
import type { ConversationMemory } from "../invoke/conversation-trust.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import type { RunHook } from "./hooks/skill-hooks.ts";
import { createHostCallbacks, type HostCallbacks } from "./host-callbacks.ts";
import type { InvokeSkill } from "./invoke-skill.ts";
import type { Reasoning } from "./loop.ts";
import { type CapabilityNotes, createCapabilityNotes } from "./open-capabilities.ts";
import type { OutputContract } from "./output-contract.ts";
import type { Budget, RunLimits } from "./run-limits.ts";
import type { RunPlace } from "./run-place.ts";
import { type Approvals, createQuestionQueue, type QuestionQueue } from "./run-policy.ts";
import { keepingOf, type RunHost, type RunRequest, rawMessageOf } from "./run-request.ts";
import type { InvokeFromModel } from "./use-skill.ts";

/** The part provided by whoever starts it. */
export interface RunGiven {
  readonly runId: string;
  readonly host: RunHost;
  /** As requested, except that its callbacks are made safe; its questions aren't queued yet. */
  readonly request: Omit<RunRequest, "skill">;
  /** How the embedding program is called. */
  readonly callbacks: HostCallbacks;
  /** The run or conversation that starts it. */
  readonly parent?: RunParent | undefined;
  /** How its own `use_skill` starts another skill. */
  readonly invoke: InvokeSkill;
  /** Only a preview: no key is fetched, nothing starts and nothing is recorded. */
  readonly isDry: boolean;
  /** The run whose work folder it uses: itself, or its chat's first turn. */
  readonly workRunId: string;
  readonly workDir: string;
  /** Where questions to a person wait. */
  readonly questions: QuestionQueue;
  /** What commands request from the host: those of its skill, and those of scripts it runs. */
  readonly capabilityNotes: CapabilityNotes;
  /** Its journal, if it must survive this process. */
  readonly durable?: DurableRunParts | undefined;
  /** A recording it writes to; `discard` if it owns it. */
  readonly recording?: (RunSink & { discard?(): void }) | undefined;
  /** What was opened for it, to be closed in reverse order. */
  readonly opened: { close(): Promise<void> }[];
}

/** What a run is about: a prepared skill, or the user's own conversation. */
export interface RunSubject
  extends Pick<PreparedInvocation, "source" | "caller" | "chain" | "trust" | "env"> {
  /** With its folder if it is in a catalog. */
  readonly skill: Pick<Skill, "name" | "location"> & Partial<Pick<Skill, "form" | "directory">>;
}

export interface RunContext extends RunGiven {
  readonly subject: RunSubject;
  /** `false` for a chat turn. */
  readonly isIsolated: boolean;
  /** What it sees of the machine, its sandbox, and what it reaches. */
  readonly place: RunPlace;
  readonly model: ResolvedModel;
  readonly system: string;
  /** The messages before it started; empty for a skill's run. */
  readonly history: readonly ModelMessage[];
  readonly message: string;
  readonly tools: readonly Tool[];
  readonly policy: ToolPolicy;
  /** The policy for skills that it starts. */
  readonly bound: ToolPolicy;
  readonly approvals: Approvals;
  /** The skill's commands around its tool calls and at its end. */
  readonly hooks: readonly RunHook[];
  readonly outputFilter: OutputFilterMode;
  /** Once it contains untrusted text, secrets are no longer delivered. */
  readonly memory: ConversationMemory;
  readonly redactor: Redactor;
  readonly limits: RunLimits;
  readonly reasoning?: Reasoning | undefined;
  /** What its answer must match. */
  readonly output?: OutputContract | undefined;
  readonly budget: Budget;
  readonly recorder: RunRecorder;
  /** Those of the decisions, combined with those found later. */
  diagnostics(found: readonly Diagnostic[]): readonly Diagnostic[];
  /**
   * Another skill's instructions are now in the run's conversation: what it disallows is denied from now on, and its
   * files can be read if the run sees more than its own folders.
   */
  follow(other: PreparedInvocation): void;
}

/** What is known about a skill's run once it has a place and a model. */
export type DecidedRun = Pick<RunContext, "place" | "memory" | "redactor" | "limits"> & {
  readonly prepared: PreparedInvocation;
  readonly agent: NamedAgent | undefined;
};

type Start = Pick<RunGiven, "runId" | "host" | "request" | "parent" | "invoke"> &
  Partial<Pick<RunGiven, "isDry" | "workRunId" | "durable">>;

/** A recording that can't be opened is reported before anything else is created. */
export function giveRun(start: Start): RunGiven {
  const { runId, host, request, parent, isDry = false, workRunId = runId } = start;
  const callbacks = createHostCallbacks(runId, host.logger);
  const confirm = request.confirm ?? host.capabilities?.confirm;
  const isOwn = !isDry && parent === undefined && request.record !== undefined;
  const recording = isOwn ? openRecording(request.record) : parent?.recording && shareSink(parent.recording);
  return {
    ...start,
    request: callbacks.wrap({ ...request, confirm }),
    callbacks,
    isDry,
    workRunId,
    workDir: request.workDir ?? runFolder(host.places, workRunId).work,
    questions: parent?.questions ?? createQuestionQueue(),
    capabilityNotes: createCapabilityNotes(),
    recording,
    opened: [],
  };
}

/** For a skill that the run starts: it has at most the run's current rights. */
export function asParent(context: RunContext): RunParent {
  const { runId, subject, isIsolated, memory, bound, place, budget, model, redactor } = context;
  return {
    runId,
    chain: isIsolated ? [...subject.chain, subject.skill.name] : [],
    trust: subject.trust.level,
    memory,
    policy: bound,
    network: place.network,
    world: place.world,
    budget,
    model,
    redactor,
    questions: context.questions,
    recording: context.recording,
    durable: context.durable && durableChildren(context.durable),
    onChild({ runId: childRunId, skill }) {
      if (context.durable && !noteChild(context.durable, childRunId)) return;
      context.recorder.emit({ type: "child-started", childRunId, skill });
    },
  };
}

/** A skill that the run starts is invoked by a model, for the same caller. */
export function inheritRequest({ subject, request }: RunContext): Omit<RunRequest, "skill"> {
  const { approve, askUser, confirm, tools, write, privateFiles, onEvent, onProgress } = request;
  const userMessage = rawMessageOf(request);
  const asked = { approve, askUser, confirm, userMessage, tools, write, privateFiles, onEvent, onProgress };
  return { source: "model", caller: subject.caller, ...asked };
}

export async function startChild(
  context: RunContext,
  child: Parameters<InvokeFromModel>[0],
  { signal, callId = "" }: Parameters<InvokeFromModel>[1],
): ReturnType<InvokeFromModel> {
  const { durable } = context;
  const request = { ...child, ...inheritRequest(context), signal };
  const runId = durable && (await nameChild(durable, callId));
  const outcome = await context.invoke(request, context.host, { parent: asParent(context), runId });
  if (outcome.kind === "inline") context.follow(outcome.prepared);
  if (outcome.kind === "run") durable?.spent.set(callId, outcome.result);
  if (outcome.kind === "left") await followChild(durable, outcome.why, callId, signal);
  return outcome;
}

/** The run or conversation in which a skill is requested. Its restrictions apply to every skill it starts. */
export interface RunParent {
  readonly runId?: string | undefined;
  /** The running skills, outermost first. */
  readonly chain: readonly string[];
  readonly trust: Trust;
  /** What is in its conversation, and whether that includes untrusted text. */
  readonly memory: ConversationMemory;
  readonly policy?: ToolPolicy | undefined;
  /** Domains; `undefined`: whatever the skill itself may reach. */
  readonly network?: readonly string[] | undefined;
  /** What it sees of the machine. */
  readonly world?: World | undefined;
  readonly budget: Budget;
  readonly model?: ResolvedModel | undefined;
  /** Where its questions to a person wait, and those of skills it starts. */
  readonly questions?: QuestionQueue | undefined;
  /** How a run that it starts becomes durable too. */
  readonly durable?:
    | ((child: { readonly skill: string; readonly runId: string }) => Promise<DurableRunParts>)
    | undefined;
  /** The secrets of a run and of the skills it starts are redacted in both. */
  readonly redactor?: Redactor | undefined;
  /** A recording that nested runs share. */
  readonly recording?: RunSink | undefined;
  onChild(child: { readonly runId: string; readonly skill: string }): void;
}

/** Everyone who receives a run's events: its log, a recording, tracing, and whoever requested it. */
export async function openRecorder(run: RunGiven, redactor: Redactor): Promise<RunRecorder> {
  const { runId, host, recording } = run;
  if (run.isDry) return createRunRecorder({ runId, redactor, sinks: [] }); // Nobody is told about what doesn't happen.
  const { callbacks } = run;
  const { onEvent } = run.request;
  const keeping = keepingOf(host);
  const needsLedger = !keeping.keepsFolders && host.config().runs.maxCostPerDay !== undefined;
  const spans = await createSpanSink();
  const { durable } = run;
  const recorder = createRunRecorder({
    runId,
    redactor,
    lastSeq: durable?.steps.lastEvent,
    sinks: [
      ...(durable ? [durable.steps.sink] : []),
      ...(recording ? [recording] : []), // Closed before the log, which then reports whether that failed.
      keeping.open(runId, durable?.steps.lastEvent),
      ...(needsLedger ? [openCostLedger(host.places)] : []),
      ...(spans ? [spans] : []),
      ...(host.logger ? [createLogSink(openLog(host.logger))] : []),
      {
        name: "listener",
        hearsText: host.onEvent !== undefined || onEvent !== undefined,
        write(event) {
          callbacks.tell("createMetier({ onEvent })", host.onEvent, event);
          onEvent?.(event); // It is safe: see `giveRun`.
        },
        async close() {
          await callbacks.settle();
          callbacks.end();
        },
      },
    ],
  });
  callbacks.listen((diagnostic) => recorder.note(diagnostic));
  return recorder;
}
