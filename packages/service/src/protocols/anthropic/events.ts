/** Managed Agents: the events of a session. What a client sends becomes messages, answers and cancellations of Metier. */
import { isJsonObject, type JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, listShape, refuseShape, type Shape, tableShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuseMissing, refuseRequest } from "../../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { readPending, readSeenEvents } from "../follow.ts";
import { boundedList, orNull, textBlocks, textIn } from "../foreign-shapes.ts";
import { type AnthropicPage, GROUP, PAGE_FIELDS } from "./anthropic-page.ts";
import { messageEvent, projectTurn, readAskId, type SessionEvent } from "./project-turn.ts";
import { readTurns, type SessionTurn } from "./sessions.ts";
import { streamSession } from "./stream-session.ts";

type SentEvent =
  | { readonly type: "user.message"; readonly content: string }
  | { readonly type: "user.interrupt" }
  | {
      readonly type: "user.tool_confirmation";
      readonly tool_use_id: string;
      readonly result: "allow" | "deny";
      readonly deny_message?: string | null;
    }
  | {
      readonly type: "user.custom_tool_result";
      readonly custom_tool_use_id: string;
      readonly content: string;
    };

const id = boundedText(256, 1);
const content = textBlocks("text");
const SENT: Readonly<Record<string, Shape<SentEvent>>> = {
  "user.message": tableShape({ type: choiceShape("user.message"), content }, ["content"]),
  "user.interrupt": tableShape({ type: choiceShape("user.interrupt") }),
  "user.tool_confirmation": tableShape(
    {
      type: choiceShape("user.tool_confirmation"),
      tool_use_id: id,
      result: choiceShape("allow", "deny"),
      deny_message: orNull(boundedText(10_000)),
    },
    ["tool_use_id", "result"],
  ),
  "user.custom_tool_result": tableShape(
    { type: choiceShape("user.custom_tool_result"), custom_tool_use_id: id, content },
    ["custom_tool_use_id", "content"],
  ),
};

const sentShape: Shape<SentEvent> = (value, place) => {
  const type = isJsonObject(value) ? String(value.type) : "";
  const shape = Object.hasOwn(SENT, type) ? SENT[type] : undefined;
  return shape ? shape(value, place) : refuseShape(value, place, `one of ${Object.keys(SENT).join(", ")}`);
};

const MOST_SENT = 100;

interface SendBody {
  readonly events: readonly SentEvent[];
}

const sendEvents = defineRoute<Record<never, never>, SendBody>({
  method: "POST",
  path: "/anthropic/v1/sessions/{id}/events",
  scope: "run",
  group: GROUP,
  summary: "Send messages, confirmations and interruptions to a session.",
  body: tableShape<SendBody>({ events: boundedList(sentShape, MOST_SENT) }, ["events"]),
  answers: { 200: { about: "The events." } },
  async handle(request, context) {
    const data: JsonObject[] = [];
    for (const event of request.body.events) {
      const sent = await sendEvent(request, context, request.param("id"), event);
      if (!sent.ok) return sent;
      data.push(sent.value);
    }
    return replyWith({ data });
  },
});

async function sendEvent(
  asking: InnerRequest,
  context: ServiceContext,
  session: string,
  event: SentEvent,
): Promise<Result<JsonObject, HttpRefusal>> {
  const processed = { processed_at: new Date(context.now()).toISOString() };
  if (event.type === "user.message") {
    const asked = { params: { id: session }, body: { message: event.content } };
    const sent = await askRoute("POST /v1/sessions/{id}/messages", asking, context, asked);
    if (!sent.ok) return sent;
    const turn = { number: Number(sent.value.turn), run: textIn(sent.value.run), message: event.content };
    return done(messageEvent(turn, processed.processed_at));
  }
  const turns = await readTurns(asking, context, session);
  if (!turns.ok) return turns;
  if (event.type === "user.interrupt") return interrupt(asking, context, turns.value.at(-1), processed);
  const answered = await answer(asking, context, turns.value, event);
  if (!answered.ok) return answered;
  const { content: text, ...rest } = { content: undefined, ...event };
  return done({
    id: `sevt_${answered.value}`,
    ...rest,
    ...processed,
    ...(text !== undefined && { content: [{ type: "text", text }] }),
  });
}

async function interrupt(
  asking: InnerRequest,
  context: ServiceContext,
  last: SessionTurn | undefined,
  processed: JsonObject,
): Promise<Result<JsonObject, HttpRefusal>> {
  const told = { id: `sevt_${last?.run ?? "none"}_interrupt`, type: "user.interrupt", ...processed };
  if (last === undefined) return done(told);
  const params = { id: last.run };
  const ended = await askRoute("POST /v1/runs/{id}/cancel", asking, context, { params });
  // One that has ended already needs no interruption.
  return ended.ok || ended.refusal.code === "run_ended" ? done(told) : ended;
}

/** Only what this session asked: ids of other sessions are not known to it. */
async function answer(
  asking: InnerRequest,
  context: ServiceContext,
  turns: readonly SessionTurn[],
  event: Extract<SentEvent, { readonly type: "user.tool_confirmation" | "user.custom_tool_result" }>,
): Promise<Result<string, HttpRefusal>> {
  const named = event.type === "user.tool_confirmation" ? event.tool_use_id : event.custom_tool_use_id;
  const params = { id: readAskId(named) ?? "" };
  const question = await context.journal.question(params.id);
  const isOfSession = turns.some(({ run }) => run === question?.rootId);
  if (question === undefined || !isOfSession || question.tenant !== asking.identity.tenant)
    return refuseMissing("call that waits", named, "/anthropic/v1/sessions/{id}/events");
  const name =
    event.type === "user.tool_confirmation" ? "POST /v1/approvals/{id}" : "POST /v1/questions/{id}";
  const body =
    event.type === "user.custom_tool_result"
      ? { answer: event.content }
      : {
          decision: event.result === "allow" ? "approve" : "deny",
          ...(event.deny_message && { note: event.deny_message }),
        };
  const answered = await askRoute(name, asking, context, { params, body });
  // An earlier answer stays: with several calls, clients confirm what is still listed as open.
  const isGiven = answered.ok || answered.refusal.code === "already_answered";
  return isGiven ? done(`${question.id}_answer`) : answered;
}

interface ListQuery extends AnthropicPage {
  readonly order?: "asc" | "desc";
  readonly "types[]"?: readonly string[];
}

const DEFAULT_LIMIT = 100;
const MOST_LIMIT = 1_000;

const listEvents = defineRoute<ListQuery>({
  method: "GET",
  path: "/anthropic/v1/sessions/{id}/events",
  scope: "read",
  group: GROUP,
  summary: "List the events of a session.",
  query: tableShape<ListQuery>({
    ...PAGE_FIELDS,
    order: choiceShape("asc", "desc"),
    "types[]": listShape(boundedText(64)),
  }),
  answers: { 200: { about: "A page of events." } },
  async handle(request, context) {
    const { order = "asc", limit = DEFAULT_LIMIT, page = "", "types[]": types } = request.query;
    const turns = await readTurns(request, context, request.param("id"));
    if (!turns.ok) return turns;
    if (limit < 1 || limit > MOST_LIMIT)
      return refuseRequest(`\`limit\` is ${limit}.`, `Use 1 to ${MOST_LIMIT}.`);
    const ordered = order === "asc" ? turns.value : turns.value.toReversed();
    const data: SessionEvent[] = [];
    for await (const event of eventsBehind(request, context, ordered, order, page)) {
      if (types === undefined || types.includes(event.type)) data.push(event);
      if (data.length > limit) break;
    }
    const shown = data.slice(0, limit);
    return replyWith({ data: shown, next_page: data.length > limit ? (shown.at(-1)?.id ?? null) : null });
  },
});

/** Of all turns, in this order, behind the event with this id; "": from the start. */
async function* eventsBehind(
  asking: InnerRequest,
  context: ServiceContext,
  turns: readonly SessionTurn[],
  order: "asc" | "desc",
  after: string,
): AsyncGenerator<SessionEvent, void> {
  let isBehind = after === "";
  for (const turn of turns) {
    const events = await readTurnEvents(asking, context, turn);
    for (const event of order === "asc" ? events : events.toReversed()) {
      if (isBehind) yield event;
      if (event.id === after) isBehind = true;
    }
  }
}

async function readTurnEvents(
  asking: InnerRequest,
  context: ServiceContext,
  turn: SessionTurn,
): Promise<readonly SessionEvent[]> {
  const run = await context.journal.get(turn.run);
  const events = await readSeenEvents(context, turn.run);
  const projection = projectTurn(turn);
  const at = new Date(run?.createdAt ?? context.now()).toISOString();
  const told = events.flatMap((event) => projection.take(event));
  const waits =
    run?.status === "waiting" ? projection.wait(await readPending(asking, context, turn.run)) : [];
  return [messageEvent(turn, at), ...told, ...waits];
}

interface StreamQuery {
  readonly "event_deltas[]"?: readonly string[];
  readonly beta?: unknown;
}

const streamEvents = defineRoute<StreamQuery>({
  method: "GET",
  path: "/anthropic/v1/sessions/{id}/events/stream",
  scope: "read",
  group: GROUP,
  summary: "Follow the new events of a session.",
  query: tableShape<StreamQuery>({ "event_deltas[]": listShape(boundedText(64)), beta: PAGE_FIELDS.beta }),
  answers: { 200: { about: "Events of the session.", type: "text/event-stream" } },
  async handle(request, context) {
    const turns = await readTurns(request, context, request.param("id"));
    if (!turns.ok) return turns;
    const wantsText = request.query["event_deltas[]"]?.includes("agent.message") ?? false;
    return streamSession(request, context, { id: request.param("id"), turns: turns.value, wantsText });
  },
});

export const EVENT_ROUTES: readonly ServiceRoute[] = [sendEvents, listEvents, streamEvents];
