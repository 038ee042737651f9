/**
 * One turn of a chat: the main agent answers one message, with the tools of a run without a skill. Skills that it uses
 * see no more than the chat does, count for its budget, and pre-approve nothing beyond this turn.
 */
import { mkdirSync } from "node:fs";
import type { ModelMessage } from "ai";
import { hasFolder } from "../disclose/skill-folder.ts";
import { runFolder } from "../events/run-log.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import { type BuiltWorld, buildWorld } from "../sandbox/build-world.ts";
import { chooseSandbox } from "../sandbox/choose-sandbox.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import { createApprovals } from "./approvals.ts";
import { type Budget, createBudget } from "./budget.ts";
import type { ChatOptions } from "./chat.ts";
import { createChatPolicy } from "./chat-policy.ts";
import { chatPrompt } from "./chat-prompt.ts";
import { configFilesOf } from "./config-files.ts";
import { grantedNetwork } from "./granted-network.ts";
import { invokeSkill } from "./invoke-skill.ts";
import { openRecorder } from "./open-recorder.ts";
import { retryingModel } from "./retrying-model.ts";
import type { RunHost } from "./run-host.ts";
import { type CarriedOut, carryOut } from "./run-isolated.ts";
import { chooseLimits, reportUnpriced } from "./run-limits.ts";
import { skillLists } from "./run-policy.ts";
import type { RunParent, RunRequest } from "./run-request.ts";
import { programTools, runTools } from "./run-tools.ts";
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
  /** Of what the message put into the conversation. */
  readonly lists: readonly ToolLists[];
  readonly signal?: AbortSignal;
}

export interface TurnOutcome extends CarriedOut {
  /** Which limit was reached, in words. */
  readonly limitMessage?: string;
}

export async function runTurn(order: TurnOrder): Promise<TurnOutcome> {
  const { runId, state, options, message, signal } = order;
  const { host, model, memory, redactor } = state;
  const { config } = host.config();
  const { work } = runFolder(host.places, state.workRunId);
  mkdirSync(work, { recursive: true, mode: 0o700 });
  const see = (): BuiltWorld =>
    buildWorld({
      trust: "trusted",
      cwd: host.cwd,
      workDir: work,
      write: options.write ?? false,
      places: host.places,
      configFiles: configFilesOf(host.config()),
      otherSkills: [...state.skillFolders],
    });
  let seen = see();
  const { world } = seen;
  const network = grantedNetwork("trusted", config, undefined, undefined);
  const { sandbox, diagnostics: unsafe } = await chooseSandbox({
    backend: config.sandbox.backend,
    trust: "trusted",
    environment: host.environment,
  });
  const policy = createChatPolicy({
    lists: order.lists,
    config: config.tools,
    policy: config.policyTools,
    cwd: world.cwd,
    isPreApprovalStopped: () => memory.trust.taintedBy !== undefined,
    hostTools: programTools(host, options).map(({ name }) => name),
  });
  const { maxConversationTokens: _, maxConversationCost, ...wished } = options.limits ?? {};
  const limits = chooseLimits(config, wished);
  const budget = createBudget(limits, state.budget);
  const recorder = await openRecorder({
    places: host.places,
    runId,
    redactor,
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  const parent: RunParent = {
    runId,
    chain: [],
    trust: "trusted",
    memory,
    policy: policy.forRuns,
    network,
    world,
    budget,
    model,
    onChild: (child) => recorder.emit({ type: "child-started", childRunId: child.runId, skill: child.skill }),
  };
  const invoke: InvokeFromModel = async (child, childSignal) => {
    const request: RunRequest = { ...child, ...inherited(options), source: "model", signal: childSignal };
    const outcome = await invokeSkill(request, host, { parent });
    if (outcome.kind === "inline") {
      policy.activate(skillLists(outcome.prepared));
      noteFolder(outcome.prepared, state);
      seen = see();
    }
    return outcome;
  };
  let limitMessage: string | undefined;
  const carried = await carryOut({
    runId,
    prepared: CHAT,
    model: { ...model, model: retryingModel(model.model, recorder) },
    system: chatPrompt(world, host.library.skills()),
    history: state.history,
    message,
    tools: policy.visible(
      runTools({ host, request: options, trust: "trusted", network, invoke, conversation: memory.trust }),
    ),
    policy,
    approvals: createApprovals({
      skill: "chat",
      remembered: state.approved,
      ...(options.approve && { approve: options.approve }),
    }),
    outputFilter: config.runs.outputFilter,
    get world() {
      return seen.world;
    },
    ...(sandbox && { sandbox }),
    network,
    declared: { network, read: [], write: [] },
    env: () => ({}),
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
  const diagnostics = [
    ...model.diagnostics,
    ...reportUnpriced(
      { ...limits, ...(maxConversationCost !== undefined && { maxCost: maxConversationCost }) },
      model,
    ),
    ...seen.diagnostics,
    ...unsafe,
    ...policy.diagnostics,
    ...redactor.diagnostics,
    ...recorder.diagnostics,
  ];
  return {
    ...carried,
    result: { ...carried.result, isolated: false, diagnostics },
    ...(limitMessage !== undefined && { limitMessage }),
  };
}

/** The files of a skill whose instructions are in the conversation can be read, and its scripts started. */
export function noteFolder(
  { skill }: PreparedInvocation,
  { skillFolders }: Pick<ChatState, "skillFolders">,
): void {
  if (hasFolder(skill)) skillFolders.add(skill.directory);
}

/** The user's own conversation, as logs name it. */
const CHAT = {
  skill: { name: "chat", location: "", manifest: {} },
  source: "user",
  chain: [],
  trust: { level: "trusted", reason: "It is the user's own conversation." },
  diagnostics: [],
} as const;

/** What a skill that is started in a chat has of it. */
export function inherited({
  caller,
  approve,
  askUser,
  tools,
  write,
  onEvent,
}: ChatOptions): Omit<RunRequest, "skill"> {
  return {
    ...(caller && { caller }),
    ...(approve && { approve }),
    ...(askUser && { askUser }),
    ...(tools && { tools }),
    ...(write !== undefined && { write }),
    ...(onEvent && { onEvent }),
  };
}
