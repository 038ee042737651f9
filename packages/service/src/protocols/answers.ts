/** People's answers to what a run asked, as clients of other protocols send them. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { type HttpRefusal, refuseRequest } from "../http/refusal.ts";
import type { ServiceContext } from "../service-context.ts";
import { askRoute, type InnerRequest } from "./ask-route.ts";

export interface AnsweredByPerson {
  readonly kind: "approval" | "question";
  readonly id: string;
  /** In the API's form. */
  readonly body: JsonObject;
}

/** Limited, because each answer is looked up in the store. */
const MOST_ANSWERS = 200;

/** An earlier answer stays: a client that reconnects sends it again. */
export async function giveAnswers(
  asking: InnerRequest,
  context: ServiceContext,
  answers: readonly AnsweredByPerson[],
): Promise<Result<undefined, HttpRefusal>> {
  if (answers.length > MOST_ANSWERS)
    return refuseRequest(
      `The request has ${answers.length} answers.`,
      `Send at most ${MOST_ANSWERS} in one request.`,
    );
  for (const { kind, id, body } of answers) {
    const given = await askRoute(`POST /v1/${kind}s/{id}`, asking, context, { params: { id }, body });
    if (!given.ok && given.refusal.code !== "already_answered") return given;
  }
  return done(undefined);
}
