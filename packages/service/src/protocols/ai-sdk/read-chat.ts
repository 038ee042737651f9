/**
 * Reads what `DefaultChatTransport` sends. Only the last message counts, because the service stores the conversation
 * itself.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, jsonShape, listShape, recordShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuseRequest } from "../../http/refusal.ts";
import type { AnsweredByPerson } from "../answers.ts";
import { ASK_USER } from "../call-book.ts";

export interface ChatBody {
  readonly id: string;
  readonly messages: readonly Json[];
  readonly trigger?: "submit-message" | "regenerate-message";
}

export const chatShape = recordShape<ChatBody>(
  {
    id: boundedText(128, 1),
    messages: listShape(jsonShape),
    trigger: choiceShape("submit-message", "regenerate-message"),
  },
  ["trigger"],
);

/** A message for the session, or answers to the questions of its last run. */
type ChatInput =
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "answers"; readonly answers: readonly AnsweredByPerson[] };

export function readChat({ messages, trigger }: ChatBody): Result<ChatInput, HttpRefusal> {
  if (trigger === "regenerate-message") {
    const message = "A message of a session is not answered again: what was said stays said.";
    return refuseRequest(message, "Send a new message.");
  }
  const last = messages.at(-1);
  const parts =
    isJsonObject(last) && Array.isArray(last.parts) ? (last.parts.filter(isJsonObject) as JsonObject[]) : [];
  if (!isJsonObject(last) || parts.length === 0)
    return refuseRequest("The last message has no parts.", "Send `messages` as `useChat` does.");
  if (last.role === "assistant") return done({ kind: "answers", answers: parts.flatMap(readAnswer) });
  if (parts.some(({ type }) => type === "file"))
    return refuseRequest("The message has a file, and runs take text only.", "Send text.");
  const text = parts.map((part) => (part.type === "text" ? String(part.text ?? "") : "")).join("\n\n");
  if (last.role !== "user" || text.trim() === "")
    return refuseRequest("The last message says nothing.", "Send a message of the user with text.");
  return done({ kind: "message", text });
}

/** The client answers a skill's question to its user as a client-side tool. */
function readAnswer(part: JsonObject): readonly AnsweredByPerson[] {
  const { state, approval, toolName, toolCallId, output } = part;
  if (state === "approval-responded" && isJsonObject(approval)) {
    const { id, approved, reason } = approval;
    const note = typeof reason === "string" ? { note: reason } : {};
    const body = { decision: approved === true ? "approve" : "deny", ...note };
    return [{ kind: "approval", id: String(id), body }];
  }
  if (state !== "output-available" || toolName !== ASK_USER || output === undefined) return [];
  return [{ kind: "question", id: String(toolCallId), body: { answer: output } }];
}
