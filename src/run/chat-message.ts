/** What a user typed, as the main agent is told it. `/name` may be a skill, which may not need the main agent at all. */
import { cleanText } from "../disclose/clean-text.ts";
import { neutralise } from "../disclose/wrap-instructions.ts";
import type { ToolLists } from "../tools/policy-lists.ts";
import type { ChatOptions } from "./chat.ts";
import {
  commandLists,
  commandMessage,
  listOffers,
  readSlash,
  refuseSlash,
  type Slash,
} from "./chat-slash.ts";
import { noteFolder } from "./chat-surroundings.ts";
import { type ChatState, inherited } from "./chat-turn.ts";
import { refusedResult } from "./ended-early.ts";
import { invokeSkill } from "./invoke-skill.ts";
import type { RunParent } from "./run-parent.ts";
import { skillLists } from "./run-policy.ts";
import type { RunRequest } from "./run-request.ts";
import type { RunResult } from "./run-result.ts";

export type ReadMessage =
  | { readonly kind: "message"; readonly message: string; readonly lists: readonly ToolLists[] }
  | { readonly kind: "ended"; readonly result: RunResult };

type ConversationState = Omit<ChatState, "history" | "workRunId">;

interface TurnFacts {
  readonly runId: string;
  readonly signal: AbortSignal | undefined;
}

/** What the main agent is told; or, when it is not needed, how the turn ended. Pasted text can hold marks like ours. */
export async function readMessage(
  typed: string,
  state: ConversationState,
  options: ChatOptions,
  facts: TurnFacts,
): Promise<ReadMessage> {
  const { text } = cleanText(typed);
  const slash = readSlash(text);
  if (slash === undefined) return { kind: "message", message: neutralise(text), lists: [] };
  const outcome = await callSkill(slash, state, { ...inherited(options), userMessage: typed }, facts);
  switch (outcome.kind) {
    case "inline":
      noteFolder(outcome.prepared, state);
      return {
        kind: "message",
        message: `${neutralise(text.trim())}\n\n${outcome.text}`,
        lists: [skillLists(outcome.prepared)],
      };
    case "run":
      return { kind: "ended", result: outcome.result };
    case "refused": {
      const { refusal } = outcome;
      if (refusal.reason === "not-found") return callCommand(slash, state, options, facts);
      return { kind: "ended", result: refusedResult(facts.runId, refusal) };
    }
  }
}

/** The user's own call: what the chat's agent may do does not limit it, but an untrusted text in the chat does. */
function callSkill(
  { name, line }: Slash,
  { host, memory, budget, model, redactor }: ConversationState,
  given: Omit<RunRequest, "skill">,
  { runId, signal }: TurnFacts,
): ReturnType<typeof invokeSkill> {
  const parent: RunParent = {
    chain: [],
    trust: "trusted",
    memory,
    budget,
    model,
    redactor,
    onChild: () => undefined,
  };
  const request: RunRequest = {
    ...given,
    skill: name,
    arguments: line,
    source: "user",
    ...(signal && { signal }),
  };
  return invokeSkill(request, host, { parent, runId });
}

async function callCommand(
  { name, line }: Slash,
  { host, memory }: ConversationState,
  { caller = {} }: ChatOptions,
  { runId }: TurnFacts,
): Promise<ReadMessage> {
  const { commands } = await host.commands();
  const command = commands.get(name);
  if (command === undefined) {
    const refusal = refuseSlash(name, await listOffers(host, caller));
    return { kind: "ended", result: refusedResult(runId, refusal) };
  }
  memory.trust.note(`/${name}`, command.trust.level);
  return { kind: "message", message: commandMessage(command, line), lists: [commandLists(command)] };
}
