/** A turn of a conversation that survives this process: the steps of a chat's turn, over the session as it was saved. */
import type { SavedChat } from "../events/saved-chat.ts";
import { openModel, openState, takeTurn } from "../run/chat.ts";
import { beginChat, beginKept, saveChat } from "../run/chat-keeping.ts";
import type { ChatOptions, ChatTurn } from "../run/chat-options.ts";
import { hideRestricted, type RunHost } from "../run/run-request.ts";
import { type DurableRunParts, recallMemory } from "./durable-run.ts";
import type { Leave } from "./parking.ts";

/**
 * One turn of a session that survives this process, recorded step by step; `from` of the options is the session so far. What
 * is saved afterwards is the session with this turn. A `/name` in the message is no command here.
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
