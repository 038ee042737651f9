/** A run's events, as a stream that can be interrupted anywhere and continues without gaps or duplicates. */
import { done } from "@metier/base/result";
import { choiceShape, tableShape } from "@metier/base/shape";
import { ENDED } from "@metier/durable";
import { answerStream } from "../http/answer-stream.ts";
import { streamEvents } from "../http/event-stream.ts";
import { numberText } from "../http/query-shapes.ts";
import { refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { readAllEvents } from "../runs/export-run.ts";
import { openProjection } from "../runs/project-event.ts";
import { findRun } from "./find-run.ts";

interface EventsQuery {
  readonly after?: number;
  readonly as?: "stream" | "list";
}

const MOST = Number.MAX_SAFE_INTEGER;
const MOST_LISTED = 20_000;

const readEvents = defineRoute<EventsQuery>({
  method: "GET",
  path: "/v1/runs/{id}/events",
  scope: "read",
  group: "runs",
  summary:
    "Follow a run's events as server-sent events. The stream closes after the last event of a run that has ended.",
  query: tableShape<EventsQuery>({ after: numberText(0, MOST), as: choiceShape("stream", "list") }),
  headers: { "Last-Event-ID": "The sequence number of the last event you saw; overrides `after`." },
  answers: {
    200: {
      about:
        "`id:` is the sequence number, from 1 without gaps; `data:` is the event. `event: text` has no number: it carries what the model is writing. With `as=list`, the response is the events so far in `data`, not a stream.",
      type: "text/event-stream",
    },
  },
  async handle({ query, headers, identity, param, signal }, context) {
    const found = await findRun(context, identity, param("id"));
    if (!found.ok) return found;
    const run = found.value;
    if (query.as === "list") {
      const projection = await openProjection(context.journal, run.id, context.hiddenFolders);
      const events = await readAllEvents(context.journal, run.id, MOST_LISTED, query.after);
      return replyWith({ data: events.map(projection.event) });
    }
    const seen = headers.get("last-event-id") ?? "";
    if (seen !== "" && !/^\d{1,15}$/.test(seen)) {
      return refuseRequest(
        "`Last-Event-ID` is not a sequence number.",
        "Send the last `id:` of this stream, or leave it out.",
      );
    }
    const after = seen === "" ? (query.after ?? 0) : Number(seen);
    // A browser reconnects until it is told that there is nothing more.
    if (seen !== "" && ENDED.has(run.status) && after >= run.lastEvent)
      return done(new Response(null, { status: 204 }));
    return answerStream(context, identity, signal, async (life) => {
      const projection = await openProjection(context.journal, run.id, context.hiddenFolders);
      return streamEvents({
        journal: context.journal,
        notices: context.notices,
        runId: run.id,
        after,
        ...context.times,
        ...life,
        project: projection.event,
        text: projection.text,
        onFault: (fault) => context.log.fault("events", fault),
      });
    });
  },
});

export const RUN_EVENT_ROUTES: readonly ServiceRoute[] = [readEvents];
