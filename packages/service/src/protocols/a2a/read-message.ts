/** A message of an A2A client: words for a skill or an agent, or the answer to what a task asked. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { flagShape, jsonShape, listShape, recordShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseRequest } from "../../http/refusal.ts";
import type { AnsweredByPerson } from "../answers.ts";
import type { Pending } from "../follow.ts";

interface MessageFields {
  readonly messageId: string;
  readonly contextId?: string;
  readonly taskId?: string;
  readonly parts: readonly Json[];
  readonly metadata?: Json;
}

export interface SendParams {
  readonly message: MessageFields;
  readonly configuration?: {
    readonly returnImmediately?: boolean;
    readonly taskPushNotificationConfig?: Json;
  };
  readonly metadata?: Json;
}

const id = boundedText(128);
const MOST_NAME = 512;

export const sendShape = recordShape<SendParams>(
  {
    message: recordShape<MessageFields>(
      { messageId: id, contextId: id, taskId: id, parts: listShape(jsonShape), metadata: jsonShape },
      ["contextId", "taskId", "metadata"],
    ),
    configuration: recordShape<NonNullable<SendParams["configuration"]>>(
      { returnImmediately: flagShape, taskPushNotificationConfig: jsonShape },
      ["returnImmediately", "taskPushNotificationConfig"],
    ),
    metadata: jsonShape,
  },
  ["configuration", "metadata"],
);

/** Whom the message is for: `metadata` of it, or of the request, names a skill or an agent. */
export function readTarget({ message, metadata }: SendParams): JsonObject {
  const given = { ...objectOf(metadata), ...objectOf(message.metadata) };
  const { skill, agent } = given;
  return { ...(isName(skill) && { skill }), ...(isName(agent) && { agent }) };
}

function isName(value: Json | undefined): value is string {
  return typeof value === "string" && value.length <= MOST_NAME;
}

export function readMessageText({ message: { parts } }: SendParams): Result<string, HttpRefusal> {
  const texts = parts.map((part) => objectOf(part).text);
  if (texts.every((text) => typeof text === "string") && texts.join("").trim() !== "")
    return done(texts.join("\n\n"));
  const message = "The message has a part that is not text, or says nothing.";
  return refuse(422, "content_type_not_supported", message, "Send parts with `text`.");
}

/** The words that answer an approval without data. */
const WORDS: Readonly<Record<string, boolean>> = { approve: true, yes: true, deny: false, no: false };

/**
 * `{ approved, reason? }` as data answers the approvals, or with `id` one of them; `{ answer }` or text answers the questions.
 */
export function readAnswers(
  { message: { parts } }: SendParams,
  { approvals, questions }: Pending,
): Result<readonly AnsweredByPerson[], HttpRefusal> {
  const answers = parts.flatMap((part): readonly AnsweredByPerson[] => {
    const { text, data } = objectOf(part);
    const { approved = wordOf(text), reason, answer = text, id: one } = objectOf(data);
    const isMeant = (asked: JsonObject): boolean => one === undefined || asked.id === one;
    const note = typeof reason === "string" ? { note: reason } : {};
    const decided = typeof approved === "boolean" ? approvals.filter(isMeant) : [];
    const answered = answer === undefined ? [] : questions.filter(isMeant);
    return [
      ...decided.map((asked) => ({
        kind: "approval" as const,
        id: String(asked.id),
        body: { decision: approved === true ? "approve" : "deny", ...note },
      })),
      ...answered.map((asked) => ({
        kind: "question" as const,
        id: String(asked.id),
        body: { answer: answer as Json },
      })),
    ];
  });
  if (answers.length > 0) return done(answers);
  const message = "The message answers nothing that the task has asked.";
  return refuseRequest(message, 'Send a part with data `{"approved": true}`, or text for a question.');
}

function wordOf(text: Json | undefined): boolean | undefined {
  return typeof text === "string" ? WORDS[text.trim().toLowerCase()] : undefined;
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? (value as JsonObject) : {};
}
