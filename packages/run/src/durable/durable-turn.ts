/** A conversation turn that survives this process: the steps of a chat's turn, on the saved session. */
import type { SavedChat } from "../events/saved-chat.ts";
import { openModel, openState, takeTurn } from "../run/chat.ts";
import { beginChat, beginKept, saveChat } from "../run/chat-keeping.ts";
import type { ChatOptions, ChatTurn } from "../run/chat-options.ts";
import { hideRestricted, type RunHost } from "../run/run-request.ts";
import { type DurableRunParts, recallMemory } from "./durable-run.ts";
import type { Leave } from "./parking.ts";

/**
 * One turn of a session that survives this process, recorded step by step; `from` in the options is the session so far.
 * Afterwards, the session including this turn is saved. A `/name` in the message isn't a command here.
 */
export async function takeDurableTurn(
  given: RunHost,
  options: ChatOptions,
  text: string,
  {
    runId,
    durable,
    signal,
  }: { readonly runId: string; readonly durable: DurableRunParts; readonly signal: AbortSignal },
): Promise<{ readonly turn: ChatTurn; readonly left?: Leave | undefined; readonly saved: SavedChat }> {
  const host = hideRestricted(given, options.caller);
  const begun = await beginChat(host, options);
  const opened = openState(host, options, await openModel(host, options.model), begun.record);
  const state = { ...opened, memory: recallMemory(durable, opened.memory) };
  const kept = beginKept(begun, options.model);
  const turn = await takeTurn(text, { signal, durable }, state, kept, runId);
  return { turn, left: durable.parking.leave, saved: saveChat(state, kept) };
}
