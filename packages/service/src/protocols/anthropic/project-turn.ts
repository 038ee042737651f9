/**
 * A turn of a session as Anthropic's session events. What an event becomes depends on those before it and on nothing else, so
 * that a list, a stream, and a stream after a restart give the same events under the same ids.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { ASK_USER, callKey } from "../call-book.ts";
import type { Pending, SeenEvent } from "../follow.ts";
import { answeredText, textIn } from "../foreign-shapes.ts";
import type { SessionTurn } from "./sessions.ts";

export type SessionEvent = JsonObject & { readonly id: string; readonly type: string };

const ASK = "sevt_ask_";

/** Of a call that a person has to decide: leads to the approval, or to the question. */
function askId(questionId: string): string {
  return `${ASK}${questionId}`;
}

export function readAskId(id: string): string | undefined {
  return id.startsWith(ASK) ? id.slice(ASK.length) : undefined;
}

export function messageEvent({ run, message }: SessionTurn, at: string): SessionEvent {
  const content = [{ type: "text", text: message }];
  return { id: `sevt_${run}_user`, type: "user.message", content, processed_at: at };
}

interface TurnProjection {
  /** What this event of the run becomes. */
  take(event: SeenEvent): readonly SessionEvent[];
  /** The run waits now. */
  wait(pending: Pending): readonly SessionEvent[];
  /** The id of the message that the model is writing. */
  messageId(): string;
}

/** What was told of a turn so far. */
interface TurnState {
  readonly run: string;
  /** Ids of calls that wait, by their question. */
  readonly open: Map<string, string>;
  /** Questions, and calls of runs that this one started: none of its events tells that they were answered. */
  readonly elsewhere: Set<string>;
  /** By call: the id that its `agent.tool_use` has. */
  readonly uses: Map<string, string>;
  step: number;
  isIdle: boolean;
  lastEvent?: SeenEvent | undefined;
  lastAsked?: SeenEvent | undefined;
}

export function projectTurn({ run }: SessionTurn): TurnProjection {
  const state: TurnState = {
    run,
    open: new Map(),
    elsewhere: new Set(),
    uses: new Map(),
    step: 1,
    isIdle: false,
  };
  return {
    messageId: () => messageId(state, state.step),
    take: (event) => takeEvent(state, event),
    wait: (pending) => waitNow(state, pending),
  };
}

function takeEvent(state: TurnState, event: SeenEvent): readonly SessionEvent[] {
  const before: SessionEvent[] = [];
  // It waited for all that was asked in a row, whenever somebody looked.
  if (state.lastAsked !== undefined && event.type !== "approval-asked") {
    if (!state.isIdle) before.push(waitAt(state, state.lastAsked));
    state.lastAsked = undefined;
  }
  state.lastEvent = event;
  if (state.isIdle && event.type !== "run-finished") {
    state.isIdle = false;
    for (const question of state.elsewhere) state.open.delete(question);
    state.elsewhere.clear();
    before.push(make(state, event, "session.status_running", {}));
  }
  return [...before, ...(PROJECTORS[event.type]?.(state, event) ?? [])];
}

function waitNow(state: TurnState, { approvals, questions }: Pending): readonly SessionEvent[] {
  const { lastEvent: last, open, elsewhere } = state;
  if (state.isIdle || last === undefined) return [];
  const ask = (question: string, type: string, fields: JsonObject): readonly SessionEvent[] => {
    if (open.has(question)) return [];
    open.set(question, askId(question));
    elsewhere.add(question);
    return [make(state, last, type, fields, askId(question))];
  };
  const asked = [
    ...approvals.flatMap(({ id, tool, input }) => {
      const use = { name: tool ?? "", input: inputOf(input), evaluated_permission: "ask" };
      return ask(textIn(id), "agent.tool_use", use);
    }),
    ...questions.flatMap(({ id, question, options }) => {
      const input = { question: question ?? "", options: options ?? [] };
      return ask(textIn(id), "agent.custom_tool_use", { name: "ask_user", input });
    }),
  ];
  return [...asked, waitAt(state, last)];
}

type Projector = (state: TurnState, event: SeenEvent) => readonly SessionEvent[];

const PROJECTORS: Readonly<Record<string, Projector>> = {
  "run-started": (state, event) => [make(state, event, "session.status_running", {})],
  "model-called"(state, { step }) {
    state.step = Number(step);
    return [];
  },
  "model-answered"(state, event) {
    const text = answeredText(event);
    if (text === "") return [];
    const content = [{ type: "text", text }];
    return [make(state, event, "agent.message", { content }, messageId(state, Number(event.step)))];
  },
  "approval-asked"(state, event) {
    const question = textIn(event.questionId);
    state.open.set(question, askId(question));
    state.lastAsked = event;
    return [useTool(state, event, askId(question), "ask")];
  },
  "approval-answered"(state, event) {
    const question = textIn(event.questionId);
    state.open.delete(question);
    const result = event.status === "approved" ? "allow" : "deny";
    return [make(state, event, "user.tool_confirmation", { tool_use_id: askId(question), result })];
  },
  "tool-called"(state, event) {
    // What waited was told when it was asked; a question to the user is told while it waits.
    const call = callKey(event);
    if (state.uses.has(call) || event.tool === ASK_USER) return [];
    const permission = event.decision === "deny" ? "deny" : "allow";
    return [useTool(state, event, `sevt_${state.run}_call_${call}`, permission)];
  },
  "tool-finished"(state, event) {
    const use = state.uses.get(callKey(event));
    if (use === undefined) return [];
    const content = [{ type: "text", text: event.text ?? "" }];
    const result = { tool_use_id: use, content, is_error: event.isError ?? false };
    return [make(state, event, "agent.tool_result", result)];
  },
  "run-finished": finish,
};

function finish(state: TurnState, event: SeenEvent): readonly SessionEvent[] {
  const { status, error, text } = event;
  const idle = (type: string): SessionEvent => goIdle(state, event, { type });
  if (status === "completed") return [idle("end_turn")];
  if (status === "cancelled") return [make(state, event, "user.interrupt", {}), idle("end_turn")];
  if (status === "limited") return [idle("budget_reached")];
  const said = isJsonObject(error) ? textIn(error.message as Json) : "";
  const message = said || textIn(text) || `The run is ${textIn(status)}.`;
  const fault = { type: "unknown_error", message, retry_status: { type: "exhausted" } };
  return [make(state, event, "session.error", { error: fault }), idle("retries_exhausted")];
}

function messageId({ run }: TurnState, step: number): string {
  return `sevt_${run}_message_${step}`;
}

function make(
  { run }: TurnState,
  { seq, at }: SeenEvent,
  type: string,
  fields: JsonObject,
  id = `sevt_${run}_${seq}_${type}`,
): SessionEvent {
  return { id, type, processed_at: at, ...fields };
}

function useTool(state: TurnState, event: SeenEvent, id: string, permission: string): SessionEvent {
  state.uses.set(callKey(event), id);
  const use = { name: event.tool ?? "", input: inputOf(event.input), evaluated_permission: permission };
  return make(state, event, "agent.tool_use", use, id);
}

function waitAt(state: TurnState, event: SeenEvent): SessionEvent {
  return goIdle(state, event, { type: "requires_action", event_ids: [...state.open.values()] });
}

function goIdle(state: TurnState, event: SeenEvent, stop: JsonObject): SessionEvent {
  state.isIdle = true;
  return make(state, event, "session.status_idle", { stop_reason: stop, stop_details: null });
}

/** Clients take objects only. */
function inputOf(input: Json | undefined): JsonObject {
  return isJsonObject(input) ? (input as JsonObject) : { input: input ?? null };
}
