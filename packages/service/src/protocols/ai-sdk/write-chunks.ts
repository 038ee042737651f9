/**
 * A run as chunks of the AI SDK's UI message stream: one assistant message, which pauses for an approval and then
 * continues.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { ASK_USER, openCallBook } from "../call-book.ts";
import type { Pending } from "../follow.ts";
import type { RunNews } from "../run-news.ts";
import { openTextParts } from "../text-parts.ts";

type Chunk = JsonObject & { readonly type: string };

interface ChunkWriter {
  begin(): readonly Chunk[];
  write(news: RunNews): readonly Chunk[];
}

const TEXT = {
  start: (id: string): Chunk => ({ type: "text-start", id }),
  piece: (id: string, delta: string): Chunk => ({ type: "text-delta", id, delta }),
  end: (id: string): Chunk => ({ type: "text-end", id }),
};

/** `earlier`: events of the run that the client has already seen in the same message. */
export function createUiChunks(runId: string, earlier: readonly JsonObject[]): ChunkWriter {
  const calls = openCalls(earlier);
  const text = openTextParts(`text-${earlier.length}`, TEXT);
  let isInStep = false;
  const endStep = (): readonly Chunk[] => {
    const ended: readonly Chunk[] = [...text.end(), ...(isInStep ? [{ type: "finish-step" }] : [])];
    isInStep = false;
    return ended;
  };
  const writeEvent = (event: JsonObject): readonly Chunk[] => {
    if (event.type === "model-called") {
      const ended = endStep();
      isInStep = true;
      return [...ended, { type: "start-step" }];
    }
    const told = calls.write(event);
    return told.length === 0 ? [] : [...text.end(), ...told];
  };
  return {
    begin: () => [{ type: "start", messageId: runId, messageMetadata: { runId } }],
    write(news) {
      switch (news.kind) {
        case "text":
          return [...(news.restarts ? text.end() : []), ...text.add(news.text)];
        case "event":
          return writeEvent(news.event);
        case "waiting":
          return [
            ...text.end(),
            ...calls.ask(news.asked),
            ...endStep(),
            finish(runId, "tool-calls", "waiting"),
          ];
        case "ended":
          return [...endStep(), ...endMessage(runId, news.run)];
        default:
          return [];
      }
    },
  };
}

interface Calls {
  write(event: JsonObject): readonly Chunk[];
  ask(asked: Pending): readonly Chunk[];
}

function openCalls(earlier: readonly JsonObject[]): Calls {
  const book = openCallBook(earlier);
  const show = (toolCallId: string, tool: Json | undefined, input: Json | undefined): Chunk => ({
    type: "tool-input-available",
    toolCallId,
    toolName: String(tool),
    input: input ?? {},
    dynamic: true,
  });
  return {
    write(event) {
      const call = book.take(event);
      if (call === undefined) return [];
      if (call.kind === "ended") return [endCall(call.id, event, call.isRefused)];
      return call.isNew ? [show(call.id, event.tool, event.input)] : [];
    },
    ask: ({ approvals, questions }) => [
      ...approvals.flatMap((approval) => {
        const { id: toolCallId, isNew } = book.callFor(approval);
        const { id, tool, input, rule } = approval;
        const reason = typeof rule === "string" ? { reason: rule } : {};
        const request = { type: "tool-approval-request", approvalId: String(id), toolCallId, ...reason };
        return isNew ? [show(toolCallId, tool, input), request] : [request];
      }),
      ...questions.map(({ id, question, options }) =>
        show(String(id), ASK_USER, { question: question ?? "", ...(options !== undefined && { options }) }),
      ),
    ],
  };
}

/** `isRefused`: a person said no. */
function endCall(toolCallId: string, { text, isError }: JsonObject, isRefused: boolean): Chunk {
  if (isRefused) return { type: "tool-output-denied", toolCallId };
  if (isError === true)
    return { type: "tool-output-error", toolCallId, errorText: String(text), dynamic: true };
  return { type: "tool-output-available", toolCallId, output: text ?? null, dynamic: true };
}

function finish(runId: string, finishReason: string, status: string): Chunk {
  return { type: "finish", finishReason, messageMetadata: { runId, status } };
}

function endMessage(runId: string, { status, limit, error }: JsonObject): readonly Chunk[] {
  const why = isJsonObject(error) ? String(error.message) : `The run ended as ${status}.`;
  if (status === "completed") return [finish(runId, "stop", status)];
  if (status === "limited") {
    const isCut = limit === "tokens" || limit === "output";
    return [finish(runId, isCut ? "length" : "other", status)];
  }
  if (status === "cancelled") return [{ type: "abort", reason: why }];
  return [{ type: "error", errorText: why }, finish(runId, "error", String(status))];
}
