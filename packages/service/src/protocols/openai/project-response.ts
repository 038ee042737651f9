/**
 * A run as responses. OpenAI's clients answer an approval with a new response, so a run is a row of them: the first up to where it
 * waits for approvals, the next from there on. What a response holds depends on the events of its run and on nothing else,
 * so that its stream can be read again from any number.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { callKey } from "../call-book.ts";
import type { SeenEvent } from "../follow.ts";
import { answeredText, textIn } from "../foreign-shapes.ts";

/** An event of a stream, before it has its number. */
export type ResponseFrame = JsonObject & { readonly type: string };

/** A part of a run, from 0. */
export interface ResponseName {
  readonly run: string;
  readonly part: number;
}

export function responseId({ run, part }: ResponseName): string {
  return `resp_${run}_${part}`;
}

export function readResponseId(id: string): ResponseName | undefined {
  const [, run, part] = /^resp_([A-Za-z0-9-]+)_(\d{1,6})$/.exec(id) ?? [];
  return run === undefined ? undefined : { run, part: Number(part) };
}

const APPROVAL = "mcpr_";

export function readApprovalId(id: string): string {
  return id.startsWith(APPROVAL) ? id.slice(APPROVAL.length) : "";
}

type Ending = "completed" | "failed" | "incomplete" | "cancelled";

export interface ResponseState extends ResponseName {
  readonly output: JsonObject[];
  /** Where in the run the events are now. */
  at: number;
  /** Whether the run asked for approvals at the end of the part that it is in. */
  isAsking: boolean;
  /** By call: the approval that was asked for it. */
  readonly asked: Map<string, string>;
  /** By call: its name and input. */
  readonly calls: Map<string, JsonObject>;
  readonly usage: { input: number; output: number };
  /** The message that is being written: its place, its step and what was sent of it. */
  writing?: { readonly index: number; readonly id: string; text: string } | undefined;
  step: number;
  ending?: Ending | undefined;
  error?: JsonObject | undefined;
  limit?: string | undefined;
}

export function openResponse(name: ResponseName): ResponseState {
  const usage = { input: 0, output: 0 };
  return { ...name, output: [], at: 0, isAsking: false, asked: new Map(), calls: new Map(), usage, step: 1 };
}

/** What this event adds to the stream of the response. */
export function takeEvent(state: ResponseState, event: SeenEvent): readonly ResponseFrame[] {
  if (state.isAsking && event.type !== "approval-asked") {
    state.at += 1;
    state.isAsking = false;
  }
  return PROJECTORS[event.type]?.(state, event) ?? [];
}

/** Whether everything of the response was seen. `waits`: the run waits now, behind all events that were taken. */
export function isWhole(state: ResponseState, waits: boolean): boolean {
  const { at, part, isAsking, ending } = state;
  return at > part || (at === part && ((isAsking && waits) || ending !== undefined));
}

/** While the model writes. */
export function addText(state: ResponseState, text: string): readonly ResponseFrame[] {
  if (state.at !== state.part || text === "") return [];
  const begun = state.writing === undefined ? beginMessage(state) : [];
  const { writing } = state;
  if (writing === undefined) return [];
  writing.text += text;
  return [...begun, deltaFrame(writing, text)];
}

function beginMessage(state: ResponseState): readonly ResponseFrame[] {
  const writing = { index: state.output.length, id: `msg_${state.run}_${state.step}`, text: "" };
  state.writing = writing;
  const item = messageItem(writing.id, "", "in_progress");
  state.output.push(item);
  const place = placeOf(writing);
  return [
    { type: "response.output_item.added", output_index: writing.index, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...place, part: textPart("") },
  ];
}

function endMessage(state: ResponseState, text: string, status: string): readonly ResponseFrame[] {
  const begun = state.writing === undefined ? beginMessage(state) : [];
  const { writing } = state;
  if (writing === undefined) return begun;
  state.writing = undefined;
  // Another answer than the one that was being written: its whole text stands in the item.
  const rest = text.startsWith(writing.text) ? text.slice(writing.text.length) : "";
  const item = messageItem(writing.id, text, status);
  state.output[writing.index] = item;
  const place = placeOf(writing);
  return [
    ...begun,
    ...(rest === "" ? [] : [deltaFrame(writing, rest)]),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part: textPart(text) },
    { type: "response.output_item.done", output_index: writing.index, item },
  ];
}

function deltaFrame(writing: { readonly index: number; readonly id: string }, delta: string): ResponseFrame {
  return { type: "response.output_text.delta", ...placeOf(writing), delta, logprobs: [] };
}

function placeOf({ index, id }: { readonly index: number; readonly id: string }): JsonObject {
  return { item_id: id, output_index: index, content_index: 0 };
}

function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function messageItem(id: string, text: string, status: string): JsonObject {
  return { id, type: "message", role: "assistant", status, content: [textPart(text)] };
}

function addItem(state: ResponseState, item: JsonObject): readonly ResponseFrame[] {
  if (state.at !== state.part) return [];
  const index = state.output.push(item) - 1;
  return [
    { type: "response.output_item.added", output_index: index, item },
    { type: "response.output_item.done", output_index: index, item },
  ];
}

type Projector = (state: ResponseState, event: SeenEvent) => readonly ResponseFrame[];

const PROJECTORS: Readonly<Record<string, Projector>> = {
  "model-called"(state, { step }) {
    state.step = Number(step);
    return [];
  },
  "model-answered"(state, event) {
    if (state.at !== state.part) return [];
    const { inputTokens = 0, outputTokens = 0 } = (event.usage ?? {}) as JsonObject;
    state.usage.input += Number(inputTokens);
    state.usage.output += Number(outputTokens);
    const text = answeredText(event);
    return text === "" && state.writing === undefined ? [] : endMessage(state, text, "completed");
  },
  "approval-asked"(state, event) {
    const id = `${APPROVAL}${textIn(event.questionId)}`;
    state.asked.set(callKey(event), id);
    state.isAsking = true;
    return addItem(state, { id, type: "mcp_approval_request", ...callOf(event) });
  },
  "tool-called"(state, event) {
    state.calls.set(callKey(event), callOf(event));
    return [];
  },
  "tool-finished"(state, event) {
    const name = callKey(event);
    const call = state.calls.get(name) ?? callOf(event);
    const text = event.text ?? "";
    const outcome = event.isError
      ? { output: null, error: text, status: "failed" }
      : { output: text, error: null, status: "completed" };
    const request = state.asked.get(name) ?? null;
    const id = `mcp_${state.run}_${name}`;
    return addItem(state, { id, type: "mcp_call", ...call, ...outcome, approval_request_id: request });
  },
  "run-finished"(state, event) {
    if (state.at !== state.part) return [];
    const { status, error, limit } = event;
    state.ending = ENDINGS[textIn(status)] ?? "failed";
    if (isJsonObject(error)) state.error = error as JsonObject;
    state.limit = textIn(limit);
    return state.writing === undefined ? [] : endMessage(state, state.writing.text, "incomplete");
  },
};

const ENDINGS: Readonly<Record<string, Ending>> = {
  completed: "completed",
  limited: "incomplete",
  cancelled: "cancelled",
};

/** Tools of a run are shown as those of an MCP server: the service calls them, not the client. */
function callOf({ tool, input }: JsonObject): JsonObject {
  return { server_label: "metier", name: tool ?? "", arguments: JSON.stringify(input ?? ({} as Json)) };
}
