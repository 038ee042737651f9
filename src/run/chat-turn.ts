/**
 * One turn of a chat: the main agent answers one message, with the tools of a run without a skill. Skills that it uses
 * see no more than the chat does, count for its budget, and pre-approve nothing beyond this turn.
 */
import type { ModelMessage } from "ai";
import { openRecording } from "../events/record.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import { createApprovals, createQuestionQueue, queueQuestions } from "./approvals.ts";
import { type Budget, createBudget } from "./budget.ts";
import { createCapabilityNotes } from "./capability-notes.ts";
import type { ChatOptions } from "./chat.ts";
import { chatPrompt } from "./chat-prompt.ts";
import { type Surroundings, surroundTurn } from "./chat-surroundings.ts";
import { invokeSkill } from "./invoke-skill.ts";
import { openRecorder } from "./open-recorder.ts";
import { reportUnpriced } from "./report-unpriced.ts";
import { retryingModel } from "./retrying-model.ts";
import type { RunHost } from "./run-host.ts";
import { type CarriedOut, carryOut } from "./run-isolated.ts";
import { chooseLimits } from "./run-limits.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";
import { runTools } from "./run-tools.ts";
import { createScriptPlaces } from "./script-place.ts";
import type { InvokeFromModel } from "./use-skill.ts";

/** What all turns of one chat have in common. */
export interface ChatState {
  readonly host: RunHost;
  readonly model: ResolvedModel;
  readonly memory: ConversationMemory;
  readonly budget: Budget;
  /** Calls the user has agreed to for the whole conversation. */
  readonly approved: Set<string>;
  readonly redactor: Redactor;
  /** The run whose work folder all turns use. */
  readonly workRunId: string;
  /** Of the skills whose instructions are in the conversation. */
  readonly skillFolders: Set<string>;
  readonly history: readonly ModelMessage[];
}

export interface TurnOrder {
  readonly runId: string;
  readonly state: ChatState;
  readonly options: ChatOptions;
  readonly message: string;
  /** The same as the user typed it: without the instructions that a `/name` added. */
  readonly userMessage: string;
  /** Of what the message put into the conversation. */
  readonly lists: readonly ToolLists[];
  readonly signal?: AbortSignal;
  /** A file for its events. */
  readonly record?: string;
}

export interface TurnOutcome extends CarriedOut {
  /** Which limit was reached, in words. */
  readonly limitMessage?: string;
}

export async function runTurn(order: TurnOrder): Promise<TurnOutcome> {
  const around = await surroundTurn(order.state, order.options, order.lists);
  return answerIn(around, order).finally(() => around.close());
}

async function answerIn(around: Surroundings, order: TurnOrder): Promise<TurnOutcome> {
  const { runId, state, options, message, userMessage, signal } = order;
  const { host, redactor } = state;
  const model = modelFor(runId, state, around);
  const { config } = host.config();
  const { maxConversationTokens: _, maxConversationCost, ...wished } = options.limits ?? {};
  const limits = chooseLimits(config, wished);
  const budget = createBudget(limits, state.budget);
  const questions = createQuestionQueue();
  const recording = order.record === undefined ? undefined : openRecording(order.record);
  const recorder = await openRecorder({
    places: host.places,
    runId,
    redactor,
    recording,
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  const parent: RunParent = {
    runId,
    chain: [],
    trust: "trusted",
    memory: state.memory,
    policy: around.policy.forRuns,
    network: around.network,
    world: around.world,
    budget,
    model,
    redactor,
    questions,
    ...(recording && { recording }),
    onChild: (child) => recorder.emit({ type: "child-started", childRunId: child.runId, skill: child.skill }),
  };
  const invoke: InvokeFromModel = async (child, childSignal) => {
    const request: RunRequest = {
      ...child,
      ...inherited(options),
      userMessage,
      source: "model",
      signal: childSignal,
    };
    const outcome = await invokeSkill(request, host, { parent });
    if (outcome.kind === "inline") around.activate(outcome.prepared);
    return outcome;
  };
  const { network, policy, sandbox } = around;
  const reachedByScripts = new Set<string>();
  const capabilityNotes = createCapabilityNotes();
  let limitMessage: string | undefined;
  const carried = await carryOut({
    runId,
    prepared: CHAT,
    model: { ...model, model: retryingModel(model.model, recorder) },
    system: chatPrompt(around.world, host.library.skills()),
    history: state.history,
    message,
    tools: policy.visible(
      runTools({
        host,
        request: queueQuestions(options, questions),
        trust: "trusted",
        network,
        backend: sandbox?.backend,
        invoke,
        openScript: createScriptPlaces({
          host,
          parent: () => parent,
          request: { ...inherited(options), userMessage },
          reached: reachedByScripts,
          runId,
          capabilityNotes: () => capabilityNotes,
        }),
        conversation: state.memory.trust,
      }),
    ),
    policy,
    approvals: createApprovals({
      skill: "chat",
      remembered: state.approved,
      queue: questions,
      ...(options.approve && { approve: options.approve }),
    }),
    outputFilter: config.runs.outputFilter,
    get world() {
      return around.world;
    },
    ...(sandbox && { sandbox }),
    network,
    get reached() {
      return new Set([...around.reached, ...reachedByScripts]);
    },
    declared: { network, read: [], write: [] },
    granted: around.granted,
    env: () => ({}),
    capabilityNotes,
    redactor,
    limits,
    budget,
    ...(signal && { signal }),
    emit(event) {
      if (event.type === "limit-reached") limitMessage = event.message;
      recorder.emit(event);
    },
  });
  await recorder.close();
  const priced = { ...limits, ...(maxConversationCost !== undefined && { maxCost: maxConversationCost }) };
  const diagnostics = [
    ...model.diagnostics,
    ...reportUnpriced(priced, model),
    ...around.diagnostics,
    ...carried.result.diagnostics,
    ...redactor.diagnostics,
    ...recorder.diagnostics,
  ];
  return {
    ...carried,
    result: { ...carried.result, isolated: false, diagnostics },
    ...(limitMessage !== undefined && { limitMessage }),
  };
}

/** A replay answers each turn from the next one that was recorded. */
function modelFor(runId: string, { model }: ChatState, { world }: Surroundings): ResolvedModel {
  if (model.replay === undefined) return model;
  const { workDir, cwd } = world;
  return { ...model, model: model.replay.modelFor({ runId, skill: CHAT.skill.name, workDir, cwd }) };
}

/** The user's own conversation, as logs name it. */
const CHAT = {
  skill: { name: "chat", location: "" },
  source: "user",
  chain: [],
  trust: { level: "trusted", reason: "It is the user's own conversation." },
} as const;

/** What a skill that is started in a chat has of it. */
export function inherited({
  caller,
  approve,
  askUser,
  confirm,
  tools,
  write,
  onEvent,
}: ChatOptions): Omit<RunRequest, "skill"> {
  return {
    ...(caller && { caller }),
    ...(approve && { approve }),
    ...(askUser && { askUser }),
    ...(confirm && { confirm }),
    ...(tools && { tools }),
    ...(write !== undefined && { write }),
    ...(onEvent && { onEvent }),
  };
}
