/** A response, read as it is now, waited for, or followed as a stream whose events are numbered from 0. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { type HttpRefusal, refuse, refuseMissing } from "../../http/refusal.ts";
import { type RouteOutcome, replyWith } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import type { InnerRequest } from "../ask-route.ts";
import {
  answerFrames,
  type FollowLife,
  followProjected,
  frameOf,
  QUIET_FRAME,
  readSeenEvents,
  waitForEnd,
} from "../follow.ts";
import {
  addText,
  isWhole,
  openResponse,
  type ResponseFrame,
  type ResponseName,
  type ResponseState,
  responseId,
  takeEvent,
} from "./project-response.ts";
import { endFrame, showResponse } from "./show-response.ts";

export async function readResponseNow(
  { identity }: InnerRequest,
  context: ServiceContext,
  name: ResponseName,
): Promise<Result<JsonObject, HttpRefusal>> {
  const run = await context.journal.get(name.run);
  if (run?.tenant !== identity.tenant) return refuseMissing("response", responseId(name), "/v1/runs");
  const state = openResponse(name);
  for (const event of await readSeenEvents(context, name.run)) takeEvent(state, event);
  // The part behind the one that asks is there as soon as it was answered.
  const isThere = name.part <= state.at + (state.isAsking ? 1 : 0);
  return isThere ? done(showResponse(state, run)) : refuseMissing("response", responseId(name), "/v1/runs");
}

/** Until it is whole; the run goes on when the client goes. */
export async function followResponse(
  asking: InnerRequest,
  context: ServiceContext,
  name: ResponseName,
): Promise<RouteOutcome> {
  const waited = await waitForEnd(asking, context, (life) =>
    framesOf(context, openResponse(name), false, life),
  );
  if (!waited.ok) return waited;
  if (context.stopping.aborted) {
    const hint = `Read \`${responseId(name)}\` after the restart.`;
    return refuse(503, "stopping", "The service is stopping. The run continues after the restart.", hint);
  }
  const shown = await readResponseNow(asking, context, name);
  return shown.ok ? replyWith(shown.value) : shown;
}

interface StreamOptions {
  /** With the text that the model is writing, which nobody keeps: such a stream cannot be read again by number. */
  readonly isLive: boolean;
  /** The number that was seen last. */
  readonly after?: number;
}

export function streamResponse(
  asking: InnerRequest,
  context: ServiceContext,
  name: ResponseName,
  { isLive, after = -1 }: StreamOptions,
): Promise<RouteOutcome> {
  return answerFrames(asking, context, (life) =>
    numbered(context, openResponse(name), { isLive, after }, life),
  );
}

async function* numbered(
  context: ServiceContext,
  state: ResponseState,
  { isLive, after }: Required<StreamOptions>,
  life: FollowLife,
): AsyncGenerator<string, void> {
  let number = 0;
  const show = (frame: ResponseFrame): string => {
    const numberedFrame = { ...frame, sequence_number: number++ };
    return numberedFrame.sequence_number > after ? frameOf(numberedFrame, frame.type) : "";
  };
  const run = await context.journal.get(state.run);
  if (run === undefined) return;
  const begun = showResponse(openResponse(state), run, "in_progress");
  yield show({ type: "response.created", response: begun }) +
    show({ type: "response.in_progress", response: begun });
  for await (const frames of framesOf(context, state, isLive, life)) {
    yield frames === "quiet" ? QUIET_FRAME : frames.map(show).join("");
  }
  const ended = await context.journal.get(state.run);
  if (ended === undefined || life.signal.aborted) return;
  yield show(endFrame(showResponse(state, ended)));
}

/** What is added to the response, until it is whole. */
async function* framesOf(
  context: ServiceContext,
  state: ResponseState,
  isLive: boolean,
  life: FollowLife,
): AsyncGenerator<readonly ResponseFrame[] | "quiet", void> {
  const following = await followProjected(context, state.run, 0, life);
  try {
    for (let next = await following.next(); next !== undefined; next = await following.next()) {
      if (next.kind === "quiet") yield "quiet";
      else if (next.kind === "text") yield isLive ? addText(state, next.text) : "quiet";
      else if (next.kind === "events") {
        for (const stored of next.events) {
          yield takeEvent(state, following.project(stored));
          if (isWhole(state, false)) return;
        }
      } else if (isWhole(state, true)) return;
    }
  } finally {
    following.end();
  }
}
