/** AG-UI under `/ag-ui`, for `HttpAgent`. A thread is a session with a skill or an agent, and each message is a run. */
import { done, type Result } from "@metier/base/result";
import type { DurableRun } from "@metier/durable";
import { checkStreamRoom } from "../../http/answer-stream.ts";
import type { HttpRefusal } from "../../http/refusal.ts";
import { defineRoute, type RouteOutcome, type ServiceRoute } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import { giveAnswers } from "../answers.ts";
import type { InnerRequest } from "../ask-route.ts";
import { answerFrames, frameOf, QUIET_FRAME, readPending } from "../follow.ts";
import type { Protocol } from "../protocol.ts";
import { readEarlier, tellRun } from "../run-news.ts";
import { checkTarget, findSaid, lastRunOf, sendToThread, type Thread } from "../threads.ts";
import { inputShape, type RunInput, readResume, readSaid } from "./read-input.ts";
import { createEventWriter } from "./write-events.ts";

const PREFIX = "/ag-ui";

/** The run that this request is about, and the last of its events that the client has seen. */
interface Place {
  readonly run: DurableRun;
  readonly after: number;
}

async function findPlace(
  asking: InnerRequest,
  context: ServiceContext,
  thread: Thread,
  input: RunInput,
): Promise<Result<Place, HttpRefusal>> {
  const { resume = [] } = input;
  if (resume.length > 0) {
    const run = await lastRunOf(asking, context, thread);
    if (!run.ok) return run;
    if (run.value !== undefined) {
      const { lastEvent, rootId } = run.value;
      const pending = await readPending(asking, context, rootId);
      const given = await giveAnswers(asking, context, run.value, readResume(resume, pending));
      return given.ok ? done({ run: run.value, after: lastEvent }) : given;
    }
  }
  const said = readSaid(input);
  if (!said.ok) return said;
  // A client that lost its connection sends the same messages again.
  const before = await findSaid(asking, context, thread, said.value);
  if (!before.ok) return before;
  if (before.value) return done({ run: before.value, after: 0 });
  const run = await sendToThread(asking, context, thread, said.value.text);
  return run.ok ? done({ run: run.value, after: 0 }) : run;
}

async function answerRun(
  asking: InnerRequest,
  context: ServiceContext,
  thread: Thread,
  input: RunInput,
): Promise<RouteOutcome> {
  const target = await checkTarget(asking, context, thread);
  if (!target.ok) return target;
  const room = checkStreamRoom(context, asking.identity);
  if (!room.ok) return room;
  const place = await findPlace(asking, context, thread, input);
  if (!place.ok) return place;
  const { run, after } = place.value;
  const earlier = await readEarlier(asking, context, run.id, after);
  return answerFrames(asking, context, async function* (life) {
    const writer = createEventWriter(input, run.id, earlier);
    yield frameOf(writer.begin());
    for await (const news of tellRun(asking, context, run, life, after)) {
      for (const event of writer.write(news)) yield frameOf(event);
      if (news.kind === "quiet") yield QUIET_FRAME;
      if (news.kind === "waiting" || news.kind === "ended") return;
    }
  });
}

function runRoute(kind: "skill" | "agent"): ServiceRoute {
  return defineRoute<Record<never, never>, RunInput>({
    method: "POST",
    path: `${PREFIX}/${kind}s/{${kind}}`,
    scope: "run",
    group: "ag-ui",
    summary: `Run the ${kind} with the next message of a thread, or continue it with answers.`,
    body: inputShape,
    answers: { 200: { about: "Events of AG-UI.", type: "text/event-stream" } },
    handle(request, context) {
      const { body, param } = request;
      const thread: Thread = { [kind]: param(kind), protocol: PREFIX, name: body.threadId };
      return answerRun(request, context, thread, body);
    },
  });
}

export const AG_UI: Protocol = {
  name: "AG-UI",
  prefix: PREFIX,
  routes: [runRoute("skill"), runRoute("agent")],
  tell({ status, code, message, hint, headers }) {
    return { status: status === 422 ? 400 : status, headers, body: { error: { code, message, hint } } };
  },
};
