/**
 * `use_skill` for a host that has a loop of its own: skills that run inline answer with their instructions, those that
 * run in isolation with their wrapped result. One tool serves one conversation.
 */
import type { Conversation } from "../disclose/conversation.ts";
import type { Trust } from "../skill/skill.ts";
import type { Tool, ToolInput, ToolOutput } from "../tools/tool.ts";
import type { BudgetLimits } from "./budget.ts";
import { openConversation } from "./open-conversation.ts";
import type { RunHost } from "./run-host.ts";
import type { RunRequest } from "./run-request.ts";

export interface ConversationToolOptions
  extends Pick<
    RunRequest,
    | "caller"
    | "model"
    | "limits"
    | "write"
    | "approve"
    | "askUser"
    | "confirm"
    | "tools"
    | "onEvent"
    | "onProgress"
  > {
  /** What the conversation was given already; keep it from turn to turn. Default: a new one. */
  readonly conversation?: Conversation;
  /** What all runs of the conversation may spend together. Default: no limit. */
  readonly budget?: BudgetLimits;
  /** `false`: a skill that needs a run of its own is refused. Default: it is run. */
  readonly canRun?: boolean;
}

/** Any host can call it. */
export interface ConversationTool extends Tool<unknown> {
  execute(input: ToolInput, context?: ConversationCall): Promise<ToolOutput>;
}

export interface ConversationCall {
  /** Ends a run with everything it started. */
  readonly signal?: AbortSignal;
  /** What the user wrote last, word for word: the answer of a sign-in is looked for in it, and nowhere else. */
  readonly userMessage?: string;
}

/** `undefined` when there is no skill a model may use. */
export function createConversationTool(
  given: RunHost,
  options: ConversationToolOptions,
  trustOf: (skill: string) => Trust | undefined,
): ConversationTool | undefined {
  return openConversation(given, options, trustOf).useSkill;
}
