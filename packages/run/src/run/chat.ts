/**
 * A conversation with a main agent that may use every usable skill. Keeps what the turns share: history, memory,
 * budget, model. A turn that failed is a value, and the conversation continues after it.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { MetierError, UsageError } from "@metier/base/errors";
import { cleanLine } from "@metier/base/text";
import { configuredSecrets, createRedactor } from "@metier/sandbox/secrets";
import { hasFolder } from "@metier/skills";
import type { ModelMessage } from "ai";
import type { DurableRunParts } from "../durable/durable-run.ts";
import { createRunId, runFolder } from "../events/run-log.ts";
import type { ChatRecord } from "../events/saved-chat.ts";
import { createMemory } from "../invoke/conversation-trust.ts";
import { refusalText } from "../invoke/invocation.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import { resolveModel } from "../model/resolve-model.ts";
import { checkProgramTools } from "../tools/tool.ts";
import { checkCallOptions } from "./call-options.ts";
import {
  closeTurn,
  compactHistory,
  countTurns,
  cutHistory,
  dropReasoning,
  forgetAbsent,
  SUMMARY_ROLE,
  tellHistory,
  tellResult,
} from "./chat-history.ts";
import { beginChat, beginKept, type Kept, keepTurns, saveChat } from "./chat-keeping.ts";
import {
  type Chat,
  type ChatOptions,
  type ChatTurn,
  checkChatOptions,
  readBranch,
  type SendOptions,
} from "./chat-options.ts";
import { type ChatState, listOffers, readMessage, readSlash, runTurn } from "./chat-turn.ts";
import { openBudget, refuseWrongLimits } from "./day-budget.ts";
import { copyWorkFiles, listWorkFiles } from "./kept-files.ts";
import { type Budget, chooseLimits, createBudget, NO_USAGE } from "./run-limits.ts";
import {
  foldersOf,
  hideRestricted,
  keepingOf,
  modelPlace,
  openHandle,
  programTools,
  type RunHost,
} from "./run-request.ts";
import { limitedResult, type RunResult } from "./run-result.ts";
import { createOwnCommand, givenSecrets } from "./run-secrets.ts";

/**
 * Throws `MetierError` with the code `model.unavailable` if there is no model, `model.unknown` if its name is unknown,
 * and `model.no-price` or `runs.day-budget` if its cost is limited and the limit can't be enforced or is used up; and
 * `UsageError` if the chat to continue doesn't exist.
 */
export async function createChat(given: RunHost, options: ChatOptions = {}): Promise<Chat> {
  checkChatOptions(options);
  const host = hideRestricted(given, options.caller);
  checkProgramTools(programTools(host, options));
  const begun = await beginChat(host, options);
  const asked = options.model ?? begun.record?.model;
  const state = openState(host, options, await openModel(host, asked), begun.record);
  checkSpending(state);
  keepingOf(host).tidy();
  const { record, verified } = begun;
  const resumed = record && { turns: record.turns, updatedAt: record.updatedAt, verified };
  return makeChat(given, state, beginKept(begun, asked), resumed);
}

/** A chat over what its turns share; what is kept changes with each turn. */
function makeChat(given: RunHost, first: ChatState, kept: Kept, resumed?: Chat["resumed"]): Chat {
  let state = first;
  const { host, options, budget, redactor } = state;
  const work = createOneAtATime();
  return {
    id: kept.id,
    get model() {
      return state.model.id;
    },
    resumed,
    get history() {
      return kept.history;
    },
    budget,
    redact: (text) => redactor.redact(text),
    offers: () => listOffers(host, options.caller ?? {}),
    useModel: async (name) =>
      work(async () => {
        const model = await openModel(host, name);
        checkSpending({ ...state, model });
        for (const secret of model.secrets) redactor.add(secret);
        if (model.provider !== state.model.provider) kept.history = dropReasoning(kept.history);
        kept.model = name;
        state = { ...state, model };
      }),
    async compact(sendOptions = {}) {
      checkCallOptions("chat.compact", sendOptions);
      return work(() => compact(sendOptions, state, kept));
    },
    async send(text, sendOptions = {}) {
      checkMessage("chat.send", text, sendOptions);
      return work(() => takeTurn(text, sendOptions, state, kept, nextRunId(kept, text)));
    },
    stream(text, sendOptions = {}) {
      checkMessage("chat.stream", text, sendOptions);
      const runId = nextRunId(kept, text);
      const { signal, onEvent, follow } = openHandle(runId, sendOptions.signal, foldersOf(host));
      const told = { ...state, options: { ...options, onEvent: tellBoth(onEvent, options.onEvent) } };
      return follow(work(() => takeTurn(text, { ...sendOptions, signal }, told, kept, runId)));
    },
    toJSON: () => saveChat(state, kept),
    branch: async (branchOptions = {}) => {
      const turns = readBranch(branchOptions, countTurns(kept.history));
      const branched = branchKept(kept, turns, host);
      return makeChat(given, branchState(given, state, branched), branched);
    },
  };
}

function checkMessage(call: "chat.send" | "chat.stream", text: string, options: SendOptions): void {
  checkCallOptions(call, options);
  if (typeof text !== "string") throw new UsageError(`\`${call}\` takes the message as a string.`);
  if (text.trim() === "") throw new UsageError("The message is empty.");
}

/** A skill called with `/name` may run in isolation, and then it doesn't get the chat's files. */
function nextRunId(kept: Kept, text: string): string {
  return (readSlash(text) === undefined ? kept.nextRunId : undefined) ?? createRunId();
}

type OnEvent = NonNullable<ChatOptions["onEvent"]>;

function tellBoth(first: OnEvent, second: OnEvent | undefined): OnEvent {
  return (event) => {
    first(event);
    return second?.(event); // Returned, so that a rejected promise is noticed too.
  };
}

/** What a branch keeps, with its own copy of the files. */
function branchKept(kept: Kept, turns: number, { places }: RunHost): Kept {
  const { workRunId } = kept;
  const nextRunId = workRunId === undefined ? undefined : createRunId();
  if (workRunId !== undefined && nextRunId !== undefined) {
    const { work } = runFolder(places, workRunId);
    copyWorkFiles(work, runFolder(places, nextRunId).work, listWorkFiles(work).files);
  }
  const history = cutHistory(kept.history, turns);
  const left = Math.min(kept.turns, turns);
  return { ...kept, id: createRunId(), history, turns: left, workRunId: undefined, nextRunId };
}

/** Shares nothing that changes: neither active skills nor approvals; an untrusted skill stays untrusted. */
function branchState(given: RunHost, state: ChatState, { history }: Kept): ChatState {
  const { options, memory, budget } = state;
  const { usage, cost, isPriced } = budget;
  const host = hideRestricted(given, options.caller);
  const own = createMemory(memory.conversation.activations, memory.trust.taintedBy);
  forgetAbsent(own.conversation, history);
  return {
    ...state,
    host,
    memory: own,
    budget: openChatBudget(host, options, { usage, cost: isPriced ? cost : undefined }),
    approved: new Set(),
    skillFolders: new Set(state.skillFolders),
  };
}

type OneAtATime = <Value>(work: () => Promise<Value>) => Promise<Value>;

/** Throws immediately, not through the promise, if something is in progress. */
function createOneAtATime(): OneAtATime {
  let isBusy = false;
  const run = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  };
  return (work) => {
    if (isBusy) {
      throw new UsageError("A turn of this chat is already running.", {
        hint: "Wait for it, or cancel it with its signal.",
      });
    }
    isBusy = true;
    return run(work);
  };
}

/** Earlier usage counts for the conversation, but not again for the host it continues in. */
function openChatBudget(
  host: RunHost,
  { limits = {} }: ChatOptions,
  before: Pick<Budget, "usage"> & { readonly cost?: number | undefined },
): Budget {
  const { maxConversationTokens: maxTokens, maxConversationCost: maxCost } = limits;
  const own = createBudget({ owner: "this conversation", maxTokens, maxCost });
  if (before.usage.totalTokens > 0) own.add(before.usage, before.cost);
  const { limitsCost, add, reached } = createBudget({}, own, host.budget);
  return {
    get usage() {
      return own.usage;
    },
    get cost() {
      return own.cost;
    },
    get isPriced() {
      return own.isPriced;
    },
    limitsCost,
    add,
    reached,
  };
}

export function openState(
  host: RunHost,
  options: ChatOptions,
  model: ResolvedModel,
  resumed?: ChatRecord,
): ChatState {
  const budget = openChatBudget(host, options, resumed ?? { usage: NO_USAGE });
  const active = (resumed?.activations ?? []).map(({ name }) => name);
  const skills = host.library.skills().filter(({ name }) => active.includes(name));
  // A skill that is gone or no longer trusted counts as untrusted: its text is still there.
  const doubtful = active.find((name) => {
    const skill = skills.find((known) => known.name === name);
    return skill === undefined || host.trustNow(skill) !== "trusted";
  });
  return {
    host,
    options,
    model,
    memory: createMemory(resumed?.activations, resumed?.taintedBy ?? doubtful),
    budget,
    approved: new Set(),
    redactor: createRedactor([
      ...model.secrets,
      ...configuredSecrets(host.config()),
      ...givenSecrets(host.env),
    ]),
    skillFolders: new Set(skills.filter(hasFolder).map(({ directory }) => directory)),
  };
}

/** Each turn is checked too, because the config may change; but a conversation that can't start fails immediately. */
function checkSpending({ host, options, model, budget }: ChatState): void {
  const { maxConversationTokens: _, maxConversationCost: __, ...wishes } = options.limits ?? {};
  const limits = chooseLimits(host.config(), wishes);
  const opened = openBudget(host, model, limits, budget);
  if (opened.ok) return;
  const { code, message, hint } = opened.refusal;
  throw new MetierError(code, message, { hint });
}

const TITLE_LENGTH = 80;

export async function takeTurn(
  text: string,
  { signal, record, durable }: SendOptions & { readonly durable?: DurableRunParts },
  state: ChatState,
  kept: Kept,
  runId: string,
): Promise<ChatTurn> {
  const { budget, memory, redactor } = state;
  const remember = async (messages: readonly ModelMessage[]): Promise<readonly Diagnostic[]> => {
    kept.history = [...kept.history, ...redactor.redactJson(messages)];
    forgetAbsent(memory.conversation, kept.history);
    if (messages.length === 0) return [];
    kept.turns += 1;
    kept.title ||= cleanLine(redactor.redact(text)).slice(0, TITLE_LENGTH);
    return keepTurns(state, kept);
  };
  const explain = (
    result: RunResult,
    faults: readonly Diagnostic[] = [],
    limitMessage?: string,
  ): ChatTurn => {
    const notice = noticeOf(result, budget, limitMessage);
    const diagnostics = [...result.diagnostics, ...faults];
    return notice === undefined ? { ...result, diagnostics } : { ...result, diagnostics, notice };
  };
  const used = budget.reached();
  if (used) return explain(limitedResult(runId, "chat", used.limit));
  const read = await readMessage(text, state, { runId, signal, isPlain: durable !== undefined });
  if (!read.ok) {
    const isTold = read.refusal.status !== "refused";
    return explain(read.refusal, isTold ? await remember(tellResult(text, read.refusal)) : []);
  }
  kept.workRunId ??= kept.nextRunId ?? runId;
  kept.nextRunId = undefined;
  const { workRunId, history } = kept;
  const told = { ...read.value, history, userMessage: text };
  const outcome = await runTurn(state, { runId, workRunId, ...told, signal, record, durable });
  if (outcome.left !== undefined) return outcome.result; // It continues elsewhere; nothing of it is remembered here.
  const faults = await remember(closeTurn(told.message, outcome));
  return explain(outcome.result, faults, outcome.limitMessage);
}

/** A separate turn that writes a summary, which replaces the history. Without one, everything stays. */
async function compact({ signal, record }: SendOptions, state: ChatState, kept: Kept): Promise<ChatTurn> {
  const { conversation } = state.memory;
  const runId = createRunId();
  const used = state.budget.reached();
  if (kept.history.length === 0) throw new UsageError("There is nothing to compact yet.");
  if (used) {
    const result = limitedResult(runId, "chat", used.limit);
    return { ...result, notice: noticeOf(result, state.budget) ?? "" };
  }
  const message = tellHistory(kept.history, conversation.activations);
  const { result, limitMessage } = await runTurn(state, {
    runId,
    workRunId: kept.workRunId ?? runId,
    message,
    history: [],
    userMessage: "/compact",
    lists: [],
    writesAs: SUMMARY_ROLE,
    signal,
    record,
  });
  const notice = noticeOf(result, state.budget, limitMessage);
  if (notice !== undefined) return { ...result, notice };
  if (result.text.trim() === "")
    return { ...result, notice: "The model returned no summary; nothing changed." };
  kept.history = compactHistory(kept.history, conversation.activations, result.text);
  forgetAbsent(conversation, kept.history);
  return { ...result, diagnostics: [...result.diagnostics, ...(await keepTurns(state, kept))] };
}

/** No recorded turn is used yet: each turn takes the next one when it starts. */
const NO_TURN = { runId: "", skill: "" } as const;

export async function openModel(host: RunHost, asked: ChatOptions["model"]): Promise<ResolvedModel> {
  const wrong = refuseWrongLimits(host);
  if (wrong) throw new MetierError(wrong.code, wrong.message, { hint: wrong.hint });
  const model = await resolveModel({
    config: host.config(),
    ...modelPlace(host),
    run: NO_TURN,
    asked,
    given: host.models,
    runCommand: createOwnCommand(host),
  });
  if (model.ok) return model.value;
  const { message, hint, code = "model.unavailable" } = model.refusal;
  throw new MetierError(code, message, { hint });
}

function noticeOf(
  { status, skill, refusal, error, limit }: RunResult,
  budget: Budget,
  limitMessage?: string,
): string | undefined {
  switch (status) {
    case "completed":
      return undefined;
    case "refused":
      return refusal && refusalText(refusal);
    case "failed":
      return error?.message;
    case "cancelled":
      return "Cancelled.";
    case "limited": {
      const used = budget.reached();
      if (used) return `Stopped: ${used.message}. Start a new conversation, or raise the limit.`;
      const what = limitMessage ?? `the skill \`${skill}\` reached its limit of ${limit}`;
      return `Stopped: ${what}. Send another message to continue.`;
    }
  }
}
