/**
 * A run as AG-UI events. A question to a person ends the protocol's run with interrupts, and the next one continues it.
 */
import { isJsonObject, type JsonObject } from "@metier/base/json";
import { openCallBook } from "../call-book.ts";
import type { Pending } from "../follow.ts";
import type { RunNews } from "../run-news.ts";
import { openTextParts } from "../text-parts.ts";

type Event = JsonObject & { readonly type: string };

/** The client's own ids. */
interface ClientRun {
  readonly threadId: string;
  readonly runId: string;
}

interface EventWriter {
  begin(): Event;
  write(news: RunNews): readonly Event[];
}

const TEXT = {
  start: (messageId: string): Event => ({ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }),
  piece: (messageId: string, delta: string): Event => ({ type: "TEXT_MESSAGE_CONTENT", messageId, delta }),
  end: (messageId: string): Event => ({ type: "TEXT_MESSAGE_END", messageId }),
};

export function createEventWriter(
  { threadId, runId }: ClientRun,
  run: string,
  earlier: readonly JsonObject[],
): EventWriter {
  const own = { threadId, runId };
  const text = openTextParts(`${run}-${earlier.length}`, TEXT);
  const calls = openCallBook(earlier);
  let step: string | undefined;
  const endStep = (): readonly Event[] => {
    const stepName = step;
    step = undefined;
    return [...text.end(), ...(stepName === undefined ? [] : [{ type: "STEP_FINISHED", stepName }])];
  };
  const writeEvent = (event: JsonObject): readonly Event[] => {
    if (event.type === "model-called") {
      const ended = endStep();
      step = `step ${event.step}`;
      return [...ended, { type: "STEP_STARTED", stepName: step }];
    }
    const call = calls.take(event);
    if (call === undefined) return [];
    const begun = call.isNew ? beginCall(call.id, event) : [];
    return [...text.end(), ...begun, ...(call.kind === "ended" ? [endCall(run, call.id, event)] : [])];
  };
  const interrupt = ({ approvals, questions }: Pending): readonly Event[] => {
    const shown: Event[] = [];
    const asked = approvals.map((approval) => {
      const { id, isNew } = calls.callFor(approval);
      if (isNew) shown.push(...beginCall(id, approval));
      return askApproval(approval, id);
    });
    const interrupts = [...asked, ...questions.map(askQuestion)];
    const outcome = { type: "interrupt", interrupts };
    return [...text.end(), ...shown, ...endStep(), { type: "RUN_FINISHED", ...own, outcome }];
  };
  return {
    begin: () => ({ type: "RUN_STARTED", ...own, metadata: { metier: { run } } }),
    write(news) {
      switch (news.kind) {
        case "text":
          return [...(news.restarts ? text.end() : []), ...text.add(news.text)];
        case "event":
          return writeEvent(news.event);
        case "waiting":
          return interrupt(news.asked);
        case "ended":
          return [...endStep(), endRun(own, news.run)];
        default:
          return [];
      }
    },
  };
}

function beginCall(toolCallId: string, { tool, input }: JsonObject): readonly Event[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName: String(tool) },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: JSON.stringify(input ?? {}) },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

function endCall(run: string, toolCallId: string, { text }: JsonObject): Event {
  const messageId = `${run}-result-${toolCallId}`;
  return { type: "TOOL_CALL_RESULT", messageId, toolCallId, content: String(text ?? ""), role: "tool" };
}

const APPROVAL = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};
const ANSWER = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };

function askApproval({ id, tool, input, rule, expiresAt }: JsonObject, toolCallId: string): JsonObject {
  return {
    id: id ?? "",
    reason: "tool_call",
    message: `${tool}: ${JSON.stringify(input ?? {})}`,
    toolCallId,
    responseSchema: APPROVAL,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(rule !== undefined && { metadata: { metier: { rule } } }),
  };
}

function askQuestion({ id, question, expiresAt }: JsonObject): JsonObject {
  return {
    id: id ?? "",
    reason: "input_required",
    message: question ?? "",
    responseSchema: ANSWER,
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

function endRun(own: ClientRun, { id, status, text, object, error }: JsonObject): Event {
  const shared = { type: "RUN_FINISHED", ...own };
  if (status === "cancelled") return { ...shared, outcome: { type: "cancelled" } };
  if (status === "completed") {
    const result = { run: id ?? "", text: text ?? "", ...(object !== undefined && { object }) };
    return { ...shared, result, outcome: { type: "success" } };
  }
  const message = isJsonObject(error) ? String(error.message) : `The run ended as ${status}.`;
  return { type: "RUN_ERROR", message, code: String(status) };
}
