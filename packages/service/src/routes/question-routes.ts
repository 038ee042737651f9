/**
 * Approvals and questions: what waits for a person. An answer is a row first and a wake-up second, so that it counts whether
 * the run is not yet parked, is parked, or is being moved; and it counts once, whoever answers and however often.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Refused, type Result } from "@metier/base/result";
import { choiceShape, jsonShape, tableShape } from "@metier/base/shape";
import { ENDED, type Question, type QuestionAnswer, type QuestionStatus } from "@metier/durable";
import {
  boundedText,
  DEFAULT_PAGE,
  listOf,
  objectOf,
  pageLimit,
  TEXT_FIELD,
  TIME_FIELD,
} from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, type RouteOutcome, replyWith, type ServiceRoute } from "../http/route.ts";
import type { Identity } from "../keys/identity.ts";
import { openProjection } from "../runs/project-event.ts";
import type { ServiceContext } from "../service-context.ts";

/** Tool calls and changes by capabilities are approvals; what a skill asks its user is a question. */
type QuestionGroup = "approvals" | "questions";

const STATUSES = [
  "pending",
  "approved",
  "denied",
  "answered",
  "expired",
  "cancelled",
] as const satisfies readonly QuestionStatus[];
const GROUP = "approvals";
const statusSchema = { enum: [...STATUSES] };
const approvalSchema = objectOf(
  {
    id: TEXT_FIELD,
    run: TEXT_FIELD,
    kind: TEXT_FIELD,
    tool: TEXT_FIELD,
    capability: TEXT_FIELD,
    operation: TEXT_FIELD,
    input: {},
    status: statusSchema,
    askedAt: TIME_FIELD,
  },
  ["id", "run", "status"],
);
const questionSchema = objectOf(
  { id: TEXT_FIELD, run: TEXT_FIELD, question: TEXT_FIELD, status: statusSchema, askedAt: TIME_FIELD },
  ["id", "run", "status"],
);

interface ListQuery {
  readonly status?: QuestionStatus;
  readonly run?: string;
  readonly after?: string;
  readonly limit?: number;
}

const listShape = tableShape<ListQuery>({
  status: choiceShape(...STATUSES),
  run: boundedText(64),
  after: boundedText(128),
  limit: pageLimit,
});

const KINDS_OF: Readonly<Record<QuestionGroup, readonly Question["kind"][]>> = {
  approvals: ["approval", "confirmation"],
  questions: ["question"],
};

function groupOf({ kind }: Question): QuestionGroup {
  return KINDS_OF.questions.includes(kind) ? "questions" : "approvals";
}

/** As a client sees it: the journal's row, and of what is asked nothing about the server's folders. */
async function showQuestion(context: ServiceContext, question: Question): Promise<JsonObject> {
  const projection = await openProjection(context.journal, question.runId, context.hiddenFolders);
  const time = (name: string, at: number | undefined): JsonObject =>
    at === undefined ? {} : { [name]: new Date(at).toISOString() };
  return {
    ...(projection.value(question.body) as JsonObject),
    id: question.id,
    run: question.runId,
    root: question.rootId,
    kind: question.kind,
    status: question.status,
    ...time("askedAt", question.askedAt),
    ...time("expiresAt", question.expiresAt),
    ...time("answeredAt", question.answeredAt),
    ...(question.answeredBy !== undefined && { answeredBy: question.answeredBy }),
    ...(question.answer !== undefined && { answer: projection.value(question.answer) }),
  };
}

async function listQuestions(
  context: ServiceContext,
  { tenant }: Identity,
  group: QuestionGroup,
  { run: rootId, status, after, limit = DEFAULT_PAGE }: ListQuery,
): Promise<RouteOutcome> {
  const kinds = KINDS_OF[group];
  const shown = await context.journal.questions({ tenant, rootId, status, kinds, after, limit });
  const data = await Promise.all(shown.map((question) => showQuestion(context, question)));
  const next = shown.length === limit ? shown.at(-1)?.id : undefined;
  return replyWith({ data, ...(next !== undefined && { next }) });
}

async function findQuestion(
  { journal }: ServiceContext,
  { tenant }: Identity,
  group: QuestionGroup,
  id: string,
): Promise<Result<Question, HttpRefusal>> {
  const question = await journal.question(id);
  if (question?.tenant === tenant && groupOf(question) === group) return done(question);
  return refuseMissing(group === "approvals" ? "approval" : "question", id, `/v1/${group}`);
}

async function giveAnswer(
  context: ServiceContext,
  identity: Identity,
  question: Question,
  answer: Omit<QuestionAnswer, "by">,
): Promise<RouteOutcome> {
  const run = await context.journal.get(question.rootId);
  if (question.status === "pending" && (run === undefined || ENDED.has(run.status) || run.isCancelled)) {
    const status = run?.isCancelled ? "cancelled" : (run?.status ?? "gone");
    return refuse(
      409,
      "run_ended",
      `Run \`${question.rootId}\` no longer waits: it is ${status}.`,
      "Nothing is left to answer.",
    );
  }
  const by = identity.userId === undefined ? identity.keyId : `${identity.userId} (${identity.keyId})`;
  const outcome = await context.journal.answer(question.id, { ...answer, by });
  if (outcome.kind === "unknown") return refuseMissing("question", question.id, "/v1/approvals");
  if (outcome.kind === "late") return refuseLate(outcome.question);
  await context.engine.wake(question.rootId);
  context.notices.changed(question.runId);
  context.metrics.count("metier_questions_answered_total");
  await context.records.audit({
    tenant: identity.tenant,
    actor: identity.keyId,
    action: `${question.kind}.${answer.status}`,
    subject: question.id,
    detail: {
      run: question.runId,
      ...pickTool(question),
      isEdited: isJsonObject(answer.answer) && "input" in answer.answer,
    },
  });
  return replyWith(await showQuestion(context, outcome.question));
}

function pickTool({ body }: Question): JsonObject {
  return typeof body.tool === "string" ? { tool: body.tool } : {};
}

/** Each way of being late, told by its name. */
function refuseLate({
  id,
  status,
  answeredBy = "somebody",
  answeredAt,
  expiresAt,
}: Question): Refused<HttpRefusal> {
  const at = (time: number | undefined): string =>
    time === undefined ? "" : ` at ${new Date(time).toISOString()}`;
  if (status === "expired" || status === "pending") {
    return refuse(
      410,
      "expired",
      `\`${id}\` expired${at(expiresAt)}; this answer does not count.`,
      "The run was told that nobody answered; start it again if it should be done.",
    );
  }
  if (status === "cancelled") {
    return refuse(
      409,
      "run_cancelled",
      `\`${id}\` was withdrawn: its run ended before it was answered.`,
      "Nothing is left to answer.",
    );
  }
  const message = `\`${id}\` was ${status} by ${answeredBy}${at(answeredAt)}; that answer counts, this one does not.`;
  return refuse(409, "already_answered", message, "Follow the run's events to see what became of it.");
}

interface ApprovalBody {
  readonly decision: "approve" | "deny";
  readonly note?: string;
  readonly input?: Json;
}

interface QuestionBody {
  readonly answer: Json;
}

const listApprovals = defineRoute<ListQuery>({
  method: "GET",
  path: "/v1/approvals",
  scope: "read",
  group: GROUP,
  summary: "List approvals, oldest first.",
  query: listShape,
  answers: {
    200: { about: "A page of approvals; pass `next` as `after` for more.", schema: listOf(approvalSchema) },
  },
  handle: ({ query, identity }, context) => listQuestions(context, identity, "approvals", query),
});

const readApproval = defineRoute({
  method: "GET",
  path: "/v1/approvals/{id}",
  scope: "read",
  group: GROUP,
  summary: "Read an approval: the tool, its input, the rule that asks, and the answer once there is one.",
  answers: { 200: { about: "The approval.", schema: approvalSchema } },
  async handle({ identity, param }, context) {
    const found = await findQuestion(context, identity, "approvals", param("id"));
    return found.ok ? replyWith(await showQuestion(context, found.value)) : found;
  },
});

const answerApproval = defineRoute<Record<never, never>, ApprovalBody>({
  method: "POST",
  path: "/v1/approvals/{id}",
  scope: "approve",
  group: GROUP,
  summary:
    "Approve or deny a tool call, or a change by a capability. With `input`, a tool call is approved as you have edited it.",
  body: tableShape<ApprovalBody>(
    { decision: choiceShape("approve", "deny"), note: boundedText(10_000), input: jsonShape },
    ["decision"],
  ),
  answers: { 200: { about: "The approval with this answer.", schema: approvalSchema } },
  async handle({ body: { decision, ...answer }, identity, param }, context) {
    const found = await findQuestion(context, identity, "approvals", param("id"));
    if (!found.ok) return found;
    if (decision === "deny" && "input" in answer) {
      return refuseRequest("A denied call has no `input`.", "Leave `input` out, or approve with it.");
    }
    if (found.value.kind === "confirmation" && "input" in answer) {
      return refuseRequest(
        "A change by a capability cannot be edited: what is confirmed is exactly what is asked.",
        "Leave `input` out, or deny it with a `note` that says what to do instead.",
      );
    }
    const status = decision === "approve" ? "approved" : "denied";
    return giveAnswer(context, identity, found.value, { status, answer });
  },
});

const listOpenQuestions = defineRoute<ListQuery>({
  method: "GET",
  path: "/v1/questions",
  scope: "read",
  group: "questions",
  summary: "List what runs have asked their users, oldest first.",
  query: listShape,
  answers: {
    200: { about: "A page of questions; pass `next` as `after` for more.", schema: listOf(questionSchema) },
  },
  handle: ({ query, identity }, context) => listQuestions(context, identity, "questions", query),
});

const answerQuestion = defineRoute<Record<never, never>, QuestionBody>({
  method: "POST",
  path: "/v1/questions/{id}",
  scope: "run",
  group: "questions",
  summary: "Answer a question of a run.",
  body: tableShape<QuestionBody>({ answer: jsonShape }, ["answer"]),
  answers: { 200: { about: "The question with this answer.", schema: questionSchema } },
  async handle({ body: { answer }, identity, param }, context) {
    const found = await findQuestion(context, identity, "questions", param("id"));
    if (!found.ok) return found;
    return giveAnswer(context, identity, found.value, { status: "answered", answer });
  },
});

export const QUESTION_ROUTES: readonly ServiceRoute[] = [
  listApprovals,
  readApproval,
  answerApproval,
  listOpenQuestions,
  answerQuestion,
];
