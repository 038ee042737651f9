/** Reads what `HttpAgent` sends. Only the last message counts, because the service stores the conversation itself. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, jsonShape, listShape, recordShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuseRequest } from "../../http/refusal.ts";
import type { AnsweredByPerson } from "../answers.ts";
import type { Pending } from "../follow.ts";

interface ResumeEntry {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload?: Json;
}

export interface RunInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly Json[];
  readonly tools?: readonly Json[];
  readonly resume?: readonly ResumeEntry[];
}

const id = boundedText(128, 1);

export const inputShape = recordShape<RunInput>(
  {
    threadId: id,
    runId: id,
    messages: listShape(jsonShape),
    tools: listShape(jsonShape),
    resume: listShape(
      recordShape<ResumeEntry>(
        { interruptId: id, status: choiceShape("resolved", "cancelled"), payload: jsonShape },
        ["payload"],
      ),
    ),
  },
  ["tools", "resume"],
);

interface SaidInThread {
  readonly text: string;
  /** The number of the user's message, from 1. */
  readonly number: number;
}

export function readSaid({ messages, tools = [] }: RunInput): Result<SaidInThread, HttpRefusal> {
  if (tools.length > 0) {
    const message = "The request has tools of the client, and a run has only those of its skill.";
    return refuseRequest(message, "Leave `tools` out.");
  }
  const said = messages.filter((message) => isJsonObject(message) && message.role === "user") as JsonObject[];
  const { content } = said.at(-1) ?? {};
  const text = typeof content === "string" ? content : textIn(content);
  if (text === undefined || text.trim() === "")
    return refuseRequest("The last message of the user has no text, or something else.", "Send text.");
  return done({ text, number: said.length });
}

/** `undefined`: it contains more than text. */
function textIn(content: Json | undefined): string | undefined {
  const parts = Array.isArray(content) ? content : [];
  const texts = parts.map((part) => (isJsonObject(part) && part.type === "text" ? part.text : undefined));
  return texts.every((text) => typeof text === "string") ? texts.join("\n\n") : undefined;
}

/** A question that was left unanswered stays open. */
export function readResume(
  entries: readonly ResumeEntry[],
  { questions }: Pending,
): readonly AnsweredByPerson[] {
  const asked = new Set(questions.map((question) => String(question.id)));
  return entries.flatMap(({ interruptId, status, payload }): readonly AnsweredByPerson[] => {
    const given = isJsonObject(payload) ? (payload as JsonObject) : {};
    if (asked.has(interruptId)) {
      const answer = given.answer ?? payload ?? "";
      return status === "resolved" ? [{ kind: "question", id: interruptId, body: { answer } }] : [];
    }
    const decision = status === "resolved" && given.approved === true ? "approve" : "deny";
    const note = typeof given.reason === "string" ? { note: given.reason } : {};
    return [{ kind: "approval", id: interruptId, body: { decision, ...note } }];
  });
}
