/**
 * The AI SDK's UI message stream under `/ai-sdk`, for `useChat` with a `DefaultChatTransport`. A chat is a session with
 * a skill or an agent, and each message is a run.
 */
import { done } from "@metier/base/result";
import { type DurableRun, ENDED } from "@metier/durable";
import { checkStreamRoom } from "../../http/answer-stream.ts";
import { refuse } from "../../http/refusal.ts";
import { defineRoute, type RouteOutcome, type RouteRequest, type ServiceRoute } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import { giveAnswers } from "../answers.ts";
import type { InnerRequest } from "../ask-route.ts";
import { answerFrames, frameOf, QUIET_FRAME } from "../follow.ts";
import type { Protocol } from "../protocol.ts";
import { readEarlier, tellRun } from "../run-news.ts";
import { checkTarget, lastRunOf, sendToThread, type Thread, type ThreadTarget } from "../threads.ts";
import { type ChatBody, chatShape, readChat } from "./read-chat.ts";
import { createUiChunks } from "./write-chunks.ts";

const PREFIX = "/ai-sdk";
const STREAM_HEADER = "x-vercel-ai-ui-message-stream";

async function answerChat(
  asking: InnerRequest,
  context: ServiceContext,
  target: ThreadTarget,
  body: ChatBody,
): Promise<RouteOutcome> {
  const input = readChat(body);
  if (!input.ok) return input;
  const room = checkStreamRoom(context, asking.identity);
  if (!room.ok) return room;
  const thread: Thread = { ...target, protocol: PREFIX, name: body.id };
  if (input.value.kind === "message") {
    const run = await sendToThread(asking, context, thread, input.value.text);
    return run.ok ? streamRun(asking, context, run.value, 0) : run;
  }
  const found = await checkTarget(asking, context, target);
  if (!found.ok) return found;
  const run = await lastRunOf(asking, context, thread);
  if (!run.ok) return run;
  if (run.value === undefined)
    return refuse(404, "not_found", "Nothing was said in this chat.", "Send a message of the user first.");
  // The client has seen the message up to the point where the run stopped to wait.
  const { lastEvent } = run.value;
  const given = await giveAnswers(asking, context, run.value, input.value.answers);
  return given.ok ? streamRun(asking, context, run.value, lastEvent) : given;
}

async function resumeChat(
  asking: InnerRequest,
  context: ServiceContext,
  target: ThreadTarget,
  name: string,
): Promise<RouteOutcome> {
  const found = await checkTarget(asking, context, target);
  if (!found.ok) return found;
  const run = await lastRunOf(asking, context, { ...target, protocol: PREFIX, name });
  if (!run.ok) return run;
  const isActive = run.value !== undefined && !ENDED.has(run.value.status);
  return isActive ? streamRun(asking, context, run.value, 0) : done(new Response(null, { status: 204 }));
}

async function streamRun(
  asking: InnerRequest,
  context: ServiceContext,
  run: DurableRun,
  after: number,
): Promise<RouteOutcome> {
  const earlier = await readEarlier(asking, context, run.id, after);
  const answer = await answerFrames(asking, context, async function* (life) {
    const writer = createUiChunks(run.id, earlier);
    for (const chunk of writer.begin()) yield frameOf(chunk);
    for await (const news of tellRun(asking, context, run, life, after)) {
      for (const chunk of writer.write(news)) yield frameOf(chunk);
      if (news.kind === "quiet") yield QUIET_FRAME;
      if (news.kind === "waiting" || news.kind === "ended") break;
    }
    yield "data: [DONE]\n\n";
  });
  if (answer.ok && answer.value instanceof Response) answer.value.headers.set(STREAM_HEADER, "v1");
  return answer;
}

function chatRoutes(kind: "skill" | "agent"): readonly ServiceRoute[] {
  const path = `${PREFIX}/${kind}s/{${kind}}`;
  const shared = { group: "ai-sdk", answers: { 200: { about: "Chunks.", type: "text/event-stream" } } };
  const targetOf = ({ param }: Pick<RouteRequest<unknown, unknown>, "param">): ThreadTarget => ({
    [kind]: param(kind),
  });
  return [
    defineRoute<Record<never, never>, ChatBody>({
      ...shared,
      method: "POST",
      path,
      scope: "run",
      summary: `Send a message of a chat with the ${kind}, or answers to what it asked.`,
      body: chatShape,
      handle: (request, context) => answerChat(request, context, targetOf(request), request.body),
    }),
    defineRoute({
      ...shared,
      method: "GET",
      path: `${path}/{id}/stream`,
      scope: "read",
      summary: "Continue the message that is being written.",
      handle: (request, context) => resumeChat(request, context, targetOf(request), request.param("id")),
    }),
  ];
}

export const AI_SDK: Protocol = {
  name: "AI SDK",
  prefix: PREFIX,
  routes: [...chatRoutes("skill"), ...chatRoutes("agent")],
  tell({ status, code, message, hint, headers }) {
    return { status: status === 422 ? 400 : status, headers, body: { error: { code, message, hint } } };
  },
};
