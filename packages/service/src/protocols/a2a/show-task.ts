/** A run as a task of A2A. */
import { isJsonObject, type JsonObject } from "@metier/base/json";
import type { DurableRun, DurableStatus } from "@metier/durable";
import { pinnedOf } from "../../runs/project-run.ts";
import type { Pending } from "../follow.ts";

/** A run that stands still for a person is `input-required`. No run waits for a sign-in, so none is `auth-required`. */
export const STATES: Readonly<Record<DurableStatus, string>> = {
  queued: "TASK_STATE_SUBMITTED",
  running: "TASK_STATE_WORKING",
  waiting: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  limited: "TASK_STATE_FAILED",
  failed: "TASK_STATE_FAILED",
  refused: "TASK_STATE_REJECTED",
  cancelled: "TASK_STATE_CANCELED",
};

export const INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED";

interface TaskPlace {
  readonly taskId: string;
  readonly contextId: string;
}

/** A run that belongs to no session is a conversation by itself. */
export function placeOf(run: Pick<DurableRun, "id" | "order">): TaskPlace {
  const { session } = pinnedOf(run);
  return { taskId: run.id, contextId: typeof session === "string" ? session : run.id };
}

/** `shown`: as `GET /v1/runs/{id}` shows it. */
export function showTask(run: DurableRun, shown: JsonObject, asked: Pending): JsonObject {
  const { taskId, contextId } = placeOf(run);
  const { text, object } = shown;
  const parts = [
    ...(typeof text === "string" && text !== "" ? [{ text }] : []),
    ...(object === undefined ? [] : [{ data: object }]),
  ];
  return {
    id: taskId,
    contextId,
    status: statusOf(shown, taskId, asked),
    ...(parts.length > 0 && { artifacts: [{ artifactId: ANSWER, name: "answer", parts }] }),
    metadata: { skill: shown.skill ?? "", ...(shown.usage !== undefined && { usage: shown.usage }) },
  };
}

const ANSWER = "answer";

export function statusOf(
  { status, updatedAt, error }: JsonObject,
  taskId: string,
  asked: Pending,
): JsonObject {
  const timestamp = updatedAt ?? new Date().toISOString();
  if (asked.approvals.length + asked.questions.length > 0)
    return { state: INPUT_REQUIRED, timestamp, message: tellAsked(taskId, asked) };
  const state = STATES[status as DurableStatus] ?? "TASK_STATE_UNSPECIFIED";
  if (!isJsonObject(error)) return { state, timestamp };
  return {
    state,
    timestamp,
    message: agentMessage(`${taskId}-end`, taskId, [{ text: String(error.message) }]),
  };
}

function tellAsked(taskId: string, { approvals, questions }: Pending): JsonObject {
  const lines = [
    ...approvals.map(({ tool, input }) => `Approve ${tool}: ${JSON.stringify(input ?? {})}?`),
    ...questions.map(({ question }) => String(question)),
  ];
  const data = {
    approvals: approvals.map(({ id = "", tool = "", input = {}, rule = "" }) => ({ id, tool, input, rule })),
    questions: questions.map(({ id = "", question = "", options = [] }) => ({ id, question, options })),
  };
  const ids = [...approvals, ...questions].map(({ id }) => id).join("-");
  return agentMessage(`${taskId}-${ids}`, taskId, [{ text: lines.join("\n") }, { data }]);
}

function agentMessage(messageId: string, taskId: string, parts: readonly JsonObject[]): JsonObject {
  return { messageId: messageId.slice(0, 256), taskId, role: "ROLE_AGENT", parts };
}
