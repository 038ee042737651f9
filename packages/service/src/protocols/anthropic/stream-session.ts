/** A session, followed from now on: through its runs, and on to the next message, for as long as somebody listens. */
import type { RouteOutcome } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import type { InnerRequest } from "../ask-route.ts";
import {
  answerFrames,
  type FollowLife,
  followProjected,
  frameOf,
  QUIET_FRAME,
  readPending,
} from "../follow.ts";
import { messageEvent, projectTurn, type SessionEvent } from "./project-turn.ts";
import { readTurns, type SessionTurn } from "./sessions.ts";

interface SessionFollowing {
  readonly id: string;
  /** Those that were there when somebody began to listen. */
  readonly turns: readonly SessionTurn[];
  /** Whether a message is told while it is written. */
  readonly wantsText: boolean;
}

export async function streamSession(
  asking: InnerRequest,
  context: ServiceContext,
  following: SessionFollowing,
): Promise<RouteOutcome> {
  const last = following.turns.at(-1);
  const run = last && (await context.journal.get(last.run));
  // What was there before is in the list of events.
  const begun = last && run && { turn: last, seen: run.lastEvent };
  return answerFrames(asking, context, (life) => followSession(asking, context, following, begun, life));
}

async function* followSession(
  asking: InnerRequest,
  context: ServiceContext,
  { id, turns, wantsText }: SessionFollowing,
  begun: { readonly turn: SessionTurn; readonly seen: number } | undefined,
  life: FollowLife,
): AsyncGenerator<string, void> {
  if (begun !== undefined)
    yield* followTurn(asking, context, begun.turn, { seen: begun.seen, wantsText, life });
  // A turn is written before its run: one whose run is not there yet is still to come.
  let known = begun === undefined ? Math.max(0, turns.length - 1) : turns.length;
  while (!life.signal.aborted && (await life.mayGoOn())) {
    // Asked for before the session is read: a message in between wakes it.
    const changed = context.notices.next(id, context.times.pollMs, life.signal);
    const now = await readTurns(asking, context, id);
    if (!now.ok) return;
    const next = now.value[known];
    const run = next && (await context.journal.get(next.run));
    if (next === undefined || run === undefined) {
      await changed;
      yield QUIET_FRAME;
      continue;
    }
    known += 1;
    yield show(messageEvent(next, new Date(run.createdAt).toISOString()));
    yield* followTurn(asking, context, next, { seen: 0, wantsText, life });
  }
}

interface TurnFollowing {
  /** Events of the run up to this one are not told. */
  readonly seen: number;
  readonly wantsText: boolean;
  readonly life: FollowLife;
}

async function* followTurn(
  asking: InnerRequest,
  context: ServiceContext,
  turn: SessionTurn,
  { seen, wantsText, life }: TurnFollowing,
): AsyncGenerator<string, void> {
  const projection = projectTurn(turn);
  const following = await followProjected(context, turn.run, 0, life);
  let writing = "";
  let lastSeq = 0;
  try {
    for (let next = await following.next(); next !== undefined; next = await following.next()) {
      if (next.kind === "quiet") yield QUIET_FRAME;
      else if (next.kind === "text") {
        if (wantsText) yield writeText(projection.messageId(), writing, next.text);
        writing = projection.messageId();
      } else if (next.kind === "waiting") {
        const told = projection.wait(await readPending(asking, context, turn.run));
        // One that waited before somebody listened is in the list.
        if (lastSeq > seen && told.length > 0) yield told.map(show).join("");
      } else {
        const told = next.events.map(following.project).flatMap((event) => {
          lastSeq = event.seq;
          const shown = projection.take(event);
          return event.seq > seen ? shown : [];
        });
        if (told.length > 0) yield told.map(show).join("");
      }
    }
  } finally {
    following.end();
  }
}

/** A piece of a message; `writing`: the message that the piece before was of. */
function writeText(id: string, writing: string, text: string): string {
  const start = frameOf({ type: "event_start", event: { id, type: "agent.message" } }, "event_start");
  const delta = { type: "content_delta", content: { type: "text", text } };
  return `${id === writing ? "" : start}${frameOf({ type: "event_delta", event_id: id, delta }, "event_delta")}`;
}

function show(event: SessionEvent): string {
  return frameOf(event, event.type);
}
