/** People's answers to what a run asked, as clients of other protocols send them. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { DurableRun } from "@metier/durable";
import { type HttpRefusal, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { pinnedOf } from "../runs/project-run.ts";
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

/**
 * Only what the run's own conversation asked: the ids of another one are not known to it. An earlier answer stays: a client
 * that reconnects sends it again.
 */
export async function giveAnswers(
  asking: InnerRequest,
  context: ServiceContext,
  run: DurableRun,
  answers: readonly AnsweredByPerson[],
): Promise<Result<undefined, HttpRefusal>> {
  if (answers.length > MOST_ANSWERS)
    return refuseRequest(
      `The request has ${answers.length} answers.`,
      `Send at most ${MOST_ANSWERS} in one request.`,
    );
  for (const { kind, id, body } of answers) {
    if (!(await isAskedIn(context, run, id))) return refuseMissing(kind, id, `/v1/${kind}s`);
    const given = await askRoute(`POST /v1/${kind}s/{id}`, asking, context, { params: { id }, body });
    if (!given.ok && given.refusal.code !== "already_answered") return given;
  }
  return done(undefined);
}

async function isAskedIn({ journal }: ServiceContext, run: DurableRun, questionId: string): Promise<boolean> {
  const question = await journal.question(questionId);
  if (question === undefined || question.tenant !== run.tenant) return false;
  if (question.rootId === run.rootId) return true;
  const { session } = pinnedOf(run);
  const root = await journal.get(question.rootId);
  return session !== undefined && root !== undefined && pinnedOf(root).session === session;
}
