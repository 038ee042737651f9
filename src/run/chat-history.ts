/**
 * What a turn leaves in a chat's history. Whatever became of it, the history can be sent again: every call has its
 * result, nothing is empty, and the model has the last word.
 */
import type { ModelMessage } from "ai";
import type { Conversation } from "../disclose/conversation.ts";
import { findProtected } from "../disclose/protect.ts";
import { neutralise } from "../disclose/wrap-instructions.ts";
import type { RunStatus } from "../events/run-event.ts";
import type { CarriedOut } from "./run-isolated.ts";
import type { RunResult } from "./run-result.ts";
import { wrapResult } from "./wrap-result.ts";

const CLOSING_WORDS: Readonly<Record<RunStatus, string>> = {
  completed: "No answer was given.",
  limited: "Stopped by a limit before the answer was finished.",
  failed: "This turn failed before the answer was finished.",
  refused: "Not started.",
  cancelled: "The user cancelled this turn before the answer was finished.",
};

/** The turn's messages; none when the provider would not take them, or nothing came of them. */
export function closeTurn(message: string, { result, messages, fault }: CarriedOut): readonly ModelMessage[] {
  if (result.status === "failed" && (messages.length === 0 || isRefused(fault))) return [];
  const turn: readonly ModelMessage[] = [{ role: "user", content: message }, ...messages];
  const last = messages.at(-1);
  if (last?.role === "assistant" && textOf(last) !== "") return turn;
  const isSaid = messages.some((said) => said.role === "assistant" && textOf(said).includes(result.text));
  const words = [...(isSaid ? [] : [result.text]), `[${CLOSING_WORDS[result.status]}]`];
  return [...turn, { role: "assistant", content: words.filter((text) => text !== "").join("\n\n") }];
}

/** A skill that the user ran: the model sees what the user saw. */
export function tellResult(typed: string, result: RunResult): readonly ModelMessage[] {
  const answer = `[The user has seen this result of the skill \`${result.skill}\`.]`;
  return [
    { role: "user", content: `${neutralise(typed)}\n\n${wrapResult(result, { isShown: true })}` },
    { role: "assistant", content: answer },
  ];
}

/** Instructions that a dropped or unfinished turn took with it are given again when they are asked for. */
export function forgetAbsent(conversation: Conversation, history: readonly ModelMessage[]): void {
  for (const activation of conversation.activations) {
    if (findProtected(history, [activation], textOf).length === 0) conversation.forget(activation.name);
  }
}

/** The request itself was wrong or too long: sent again, it would be refused again. */
function isRefused(fault: unknown): boolean {
  const { statusCode } = (fault ?? {}) as { readonly statusCode?: number };
  return statusCode === 400 || statusCode === 413 || statusCode === 422;
}

/** All texts of a message, also those of tool results. */
function textOf({ content }: ModelMessage): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (part.type === "text") return part.text;
      if (part.type !== "tool-result") return "";
      const { output } = part;
      return output.type === "text" || output.type === "error-text" ? output.value : "";
    })
    .join("\n");
}
