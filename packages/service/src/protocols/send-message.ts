/** A message to a session, for protocols whose clients open no session themselves. */
import { done, type Result } from "@metier/base/result";
import type { HttpRefusal } from "../http/refusal.ts";
import { takeBackSession } from "../routes/session-routes.ts";
import type { ServiceContext } from "../service-context.ts";
import { askRoute, type InnerRequest } from "./ask-route.ts";
import { textIn } from "./foreign-shapes.ts";

interface MessageSession {
  readonly id: string;
  /** It was opened for this message, and nobody else knows its id: if the message is refused, it is taken back. */
  readonly isNew: boolean;
}

/** Returns the id of the run that the message starts. */
export async function sendMessage(
  asking: InnerRequest,
  context: ServiceContext,
  { id, isNew }: MessageSession,
  message: string,
): Promise<Result<string, HttpRefusal>> {
  const asked = { params: { id }, body: { message } };
  const sent = await askRoute("POST /v1/sessions/{id}/messages", asking, context, asked);
  if (sent.ok) return done(textIn(sent.value.run));
  if (isNew) await takeBackSession(context, asking.identity, id);
  return sent;
}
