/** The methods of A2A over what the API does: tasks are runs, and a context is a session. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Refused, type Result } from "@metier/base/result";
import { recordShape, type Shape, textShape } from "@metier/base/shape";
import { type DurableRun, ENDED } from "@metier/durable";
import { checkStreamRoom } from "../../http/answer-stream.ts";
import { readValue } from "../../http/read-request.ts";
import { type HttpRefusal, refuse, refuseRequest } from "../../http/refusal.ts";
import { findRun } from "../../routes/find-run.ts";
import { pinnedOf } from "../../runs/project-run.ts";
import type { ServiceContext } from "../../service-context.ts";
import { giveAnswers } from "../answers.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { readPending } from "../follow.ts";
import { pendingOf } from "../run-news.ts";
import { sendMessage } from "../send-message.ts";
import { checkTarget, type ThreadTarget } from "../threads.ts";
import { readAnswers, readMessageText, readTarget, type SendParams, sendShape } from "./read-message.ts";
import { STATES, showTask } from "./show-task.ts";

export type Outcome<Value> = Result<Value, HttpRefusal>;

/** A run, and the last of its events that the client has seen. */
export interface TaskAt {
  readonly run: DurableRun;
  readonly after: number;
}

export function readMethodParams<Value>(shape: Shape<Value>, params: Json | undefined): Outcome<Value> {
  return readValue(shape, params ?? {}, "`params`") as Outcome<Value>;
}

interface TaskParams {
  readonly id: string;
}

const taskShape = recordShape<TaskParams>({ id: textShape });

export async function findTask(
  asking: InnerRequest,
  context: ServiceContext,
  params: Json | undefined,
): Promise<Outcome<DurableRun>> {
  const read = readMethodParams(taskShape, params);
  return read.ok ? findRun(context, asking.identity, read.value.id) : read;
}

/** As it is now. */
export async function readTask(
  asking: InnerRequest,
  context: ServiceContext,
  run: DurableRun,
): Promise<Outcome<JsonObject>> {
  const shown = await askRoute("GET /v1/runs/{id}", asking, context, { params: { id: run.id } });
  if (!shown.ok) return shown;
  return done(showTask(run, shown.value, await pendingOf(asking, context, run)));
}

export async function cancelTask(
  asking: InnerRequest,
  context: ServiceContext,
  run: DurableRun,
): Promise<Outcome<JsonObject>> {
  const cancelled = await askRoute("POST /v1/runs/{id}/cancel", asking, context, { params: { id: run.id } });
  if (!cancelled.ok) return cancelled;
  const task = await readTask(asking, context, run);
  if (!task.ok) return task;
  const status = { state: STATES.cancelled, timestamp: new Date(context.now()).toISOString() };
  return done({ ...task.value, status });
}

/** Starts a run, or answers what one has asked. `place`: whom the address names. */
export async function takeMessage(
  asking: InnerRequest,
  context: ServiceContext,
  params: Json | undefined,
  place: ThreadTarget,
): Promise<Outcome<TaskAt & { readonly sent: SendParams }>> {
  const read = readMethodParams(sendShape, params);
  if (!read.ok) return read;
  const sent = read.value;
  if (isJsonObject(sent.configuration?.taskPushNotificationConfig)) return refusePush();
  const isLeft = sent.configuration?.returnImmediately === true;
  const room = isLeft ? done(undefined) : checkStreamRoom(context, asking.identity);
  if (!room.ok) return room;
  const at = sent.message.taskId
    ? await answerTask(asking, context, sent, sent.message.taskId)
    : await startTask(asking, context, sent, place);
  return at.ok ? done({ ...at.value, sent }) : at;
}

export function refusePush(): Refused<HttpRefusal> {
  return refuse(422, "push_not_supported", "Metier sends no push notifications.", "Subscribe to the task.");
}

async function answerTask(
  asking: InnerRequest,
  context: ServiceContext,
  sent: SendParams,
  id: string,
): Promise<Outcome<TaskAt>> {
  const run = await findRun(context, asking.identity, id);
  if (!run.ok) return run;
  const { contextId } = sent.message;
  if (contextId && contextId !== pinnedOf(run.value).session)
    return refuseRequest(
      `Task \`${id}\` is not part of the context \`${contextId}\`.`,
      "Leave `contextId` out, or use the task's own.",
    );
  // Also while a worker picks the run up again, as after a restart: what it asked stays asked.
  const answers = readAnswers(sent, await readPending(asking, context, run.value.rootId));
  if (!answers.ok) return ENDED.has(run.value.status) ? refuseEnded(id) : answers;
  const given = await giveAnswers(asking, context, run.value, answers.value);
  return given.ok ? done({ run: run.value, after: run.value.lastEvent }) : given;
}

export function refuseEnded(id: string): Refused<HttpRefusal> {
  const message = `Task \`${id}\` has ended.`;
  return refuse(409, "unsupported_operation", message, "Send a new message in its context.");
}

async function startTask(
  asking: InnerRequest,
  context: ServiceContext,
  sent: SendParams,
  place: ThreadTarget,
): Promise<Outcome<TaskAt>> {
  const text = readMessageText(sent);
  if (!text.ok) return text;
  const session = await findContext(asking, context, sent, place);
  if (!session.ok) return session;
  const own = { id: session.value, isNew: !sent.message.contextId };
  const started = await sendMessage(asking, context, own, text.value);
  if (!started.ok) return started;
  const run = await findRun(context, asking.identity, started.value);
  return run.ok ? done({ run: run.value, after: 0 }) : run;
}

/** The session that the message goes on with, or a new one with whom its address or the message names. */
async function findContext(
  asking: InnerRequest,
  context: ServiceContext,
  sent: SendParams,
  place: ThreadTarget,
): Promise<Outcome<string>> {
  const { contextId } = sent.message;
  if (contextId) {
    const found = await askRoute("GET /v1/sessions/{id}", asking, context, { params: { id: contextId } });
    return found.ok ? done(contextId) : found;
  }
  const target = place.skill === undefined && place.agent === undefined ? readTarget(sent) : place;
  if (target.skill === undefined && target.agent === undefined) {
    const message = "The message does not say for which skill or agent it is.";
    return refuseRequest(
      message,
      'Name one in its metadata (`{"skill": "…"}` or `{"agent": "…"}`), or use `/a2a/skills/<skill>`.',
    );
  }
  const known = await checkTarget(asking, context, target);
  if (!known.ok) return refuseRequest(known.refusal.message, known.refusal.hint);
  const made = await askRoute("POST /v1/sessions", asking, context, { body: { ...target } });
  return made.ok ? done(String(made.value.id)) : made;
}
