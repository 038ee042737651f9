/**
 * A conversation with a main agent that may use every usable skill. Keeps what the turns share: history, memory, budget,
 * model. A turn that did not end well is a value, and the conversation goes on after it.
 */

import type { ModelMessage } from "ai";
import { tidyRuns } from "../events/remove-runs.ts";
import { createRunId } from "../events/run-id.ts";
import { MetierError, UsageError } from "../foundation/errors.ts";
import { refusalText } from "../invoke/refusal-text.ts";
import type { GivenModel } from "../model/given-model.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import { resolveModel } from "../model/resolve-model.ts";
import { configuredSecrets } from "../secrets/configured-secrets.ts";
import { createRedactor } from "../secrets/redaction.ts";
import { checkProgramTools } from "../tools/check-program-tools.ts";
import { type Budget, createBudget } from "./budget.ts";
import { closeTurn, forgetAbsent, tellResult } from "./chat-history.ts";
import { readMessage } from "./chat-message.ts";
import { type ChatOffer, listOffers } from "./chat-slash.ts";
import { runTurn } from "./chat-turn.ts";
import { createMemory } from "./conversation-memory.ts";
import { limitedResult } from "./ended-early.ts";
import { hideRestricted } from "./hide-restricted.ts";
import { createOwnCommand } from "./own-command.ts";
import type { RunHost } from "./run-host.ts";
import type { RunLimits } from "./run-limits.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";
import { programTools } from "./run-tools.ts";

export interface ChatLimits extends RunLimits {
  /** Of all turns together, with the skills they run. The other limits are those of one turn. */
  readonly maxConversationTokens: number;
  readonly maxConversationCost: number;
}

export interface ChatOptions
  extends Pick<RunRequest, "caller" | "approve" | "askUser" | "confirm" | "tools" | "write" | "onEvent"> {
  /** An alias, `provider/model`, or a model of the AI SDK. */
  readonly model?: string | GivenModel;
  readonly limits?: Partial<ChatLimits>;
}

export interface ChatTurn extends RunResult {
  /** Why there is no whole answer, and what to do. Absent when there is one. */
  readonly notice?: string;
}

/** A message as the AI SDK keeps it (`ModelMessage`). */
export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
}

export interface Chat {
  /** For people: `anthropic/claude-…`. */
  readonly model: string;
  /** What the model is sent again with the next message. */
  readonly history: readonly ChatMessage[];
  /** What the conversation has used, with the skills it ran. */
  readonly budget: Pick<Budget, "usage" | "cost" | "reached">;
  /** What can be called by `/name`. */
  offers(): Promise<readonly ChatOffer[]>;
  /**
   * One turn: a message, or `/name arguments` for a skill or a custom command. Never rejects for what happens in it.
   * One at a time: a second one before the first has ended throws `UsageError`.
   */
  send(text: string, options?: SendOptions): Promise<ChatTurn>;
}

export interface SendOptions {
  readonly signal?: AbortSignal;
  /** A file that keeps the events of the main agent's turn, to be replayed by a chat of its own. */
  readonly record?: string;
}

/** Throws `MetierError` with the code `model.unavailable` when there is no model to talk with. */
export async function createChat(given: RunHost, options: ChatOptions = {}): Promise<Chat> {
  const { caller = {}, limits = {} } = options;
  const host = hideRestricted(given, caller);
  checkProgramTools(programTools(host, options));
  const model = await openModel(host, options);
  tidyRuns(host.places);
  const { maxConversationTokens: maxTokens, maxConversationCost: maxCost } = limits;
  const budget = createBudget({
    owner: "this conversation",
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCost !== undefined && { maxCost }),
  });
  const state = {
    host,
    model,
    memory: createMemory(),
    budget,
    approved: new Set<string>(),
    redactor: createRedactor([...model.secrets, ...configuredSecrets(host.config().config)]),
    skillFolders: new Set<string>(),
  };
  let history: readonly ModelMessage[] = [];
  /** The first turn of the main agent, whose work folder the later ones go on with. */
  let workRunId: string | undefined;
  let isBusy = false;

  const keep = (messages: readonly ModelMessage[]): void => {
    history = [...history, ...state.redactor.redactJson(messages)];
    forgetAbsent(state.memory.conversation, history);
  };
  const explain = (result: RunResult, limitMessage?: string): ChatTurn => {
    const notice = noticeOf(result, budget, limitMessage);
    return notice === undefined ? result : { ...result, notice };
  };
  const take = async (text: string, { signal, record }: SendOptions): Promise<ChatTurn> => {
    const runId = createRunId();
    const used = budget.reached();
    if (used) return explain(limitedResult(runId, "chat", used.limit));
    const read = await readMessage(text, state, options, { runId, signal });
    if (read.kind === "ended") {
      if (read.result.status !== "refused") keep(tellResult(text, read.result));
      return explain(read.result);
    }
    const { message, lists } = read;
    workRunId ??= runId;
    const turn = { ...state, history, workRunId };
    const outcome = await runTurn({
      runId,
      state: turn,
      options,
      message,
      userMessage: text,
      lists,
      ...(signal && { signal }),
      ...(record !== undefined && { record }),
    });
    keep(closeTurn(message, outcome));
    return explain(outcome.result, outcome.limitMessage);
  };
  return {
    model: model.id,
    get history() {
      return history;
    },
    budget,
    offers: () => listOffers(host, caller),
    async send(text, sendOptions = {}) {
      if (text.trim() === "") throw new UsageError("The message is empty.");
      if (isBusy) {
        throw new UsageError("A turn of this chat is under way.", {
          hint: "Wait for it, or cancel it by its signal.",
        });
      }
      isBusy = true;
      try {
        return await take(text, sendOptions);
      } finally {
        isBusy = false;
      }
    },
  };
}

/** Of a replay no recorded turn is taken yet: each turn takes the next one when it begins. */
const NO_TURN = { runId: "", skill: "" } as const;

async function openModel(host: RunHost, { model: asked }: ChatOptions): Promise<ResolvedModel> {
  const model = await resolveModel({
    config: host.config().config,
    environment: host.environment,
    run: NO_TURN,
    ...(asked !== undefined && { asked }),
    ...(host.models && { given: host.models }),
    runCommand: createOwnCommand(host.environment),
  });
  if (!model.ok) throw new MetierError("model.unavailable", model.message, { hint: model.hint });
  return model;
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
      if (used) return `Stopped: ${used.message}. Begin a new conversation, or allow this one more.`;
      const what = limitMessage ?? `the skill \`${skill}\` reached its limit of ${limit}`;
      return `Stopped: ${what}. Another message goes on from here.`;
    }
  }
}
