/**
 * Approvals and questions: what waits for a person. An answer is stored before it wakes the run, so that it counts
 * whether the run isn't parked yet, is parked, or is being moved; and it counts once, whoever answers and however
 * often.
 */
import { isJsonObject, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Refused, type Result } from "@metier/base/result";
import {
  choiceShape,
  describedShape,
  jsonShape,
  refuseShape,
  type Shape,
  tableShape,
} from "@metier/base/shape";
import { ENDED, type Question, type QuestionAnswer, type QuestionStatus } from "@metier/durable";
import { createPathHider } from "@metier/run/events";
import { type PageQuery, pageAnswer, pageFields, replyPage } from "../http/page.ts";
import { boundedText, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, type RouteOutcome, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";
import type { Identity } from "../keys/identity.ts";
import { allowAlways, showAlwaysRule } from "../runs/always-rule.ts";
import { readEditedInput } from "../runs/edited-input.ts";
import { openProjection } from "../runs/project-event.ts";
import { showInput } from "../runs/show-input.ts";
import type { ServiceContext } from "../service-context.ts";
import { refuseElsewhere } from "./find-run.ts";

/** Tool calls and capability changes are approvals; what a skill asks its user is a question. */
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
    skill: TEXT_FIELD,
    tool: TEXT_FIELD,
    capability: TEXT_FIELD,
    operation: TEXT_FIELD,
    input: {},
    rule: TEXT_FIELD,
    diff: TEXT_FIELD,
    alwaysRule: TEXT_FIELD,
    isCut: { type: "boolean" },
    status: statusSchema,
    askedAt: TIME_FIELD,
  },
  ["id", "run", "status"],
);
const questionSchema = objectOf(
  { id: TEXT_FIELD, run: TEXT_FIELD, question: TEXT_FIELD, status: statusSchema, askedAt: TIME_FIELD },
  ["id", "run", "status"],
);

interface ListQuery extends PageQuery {
  readonly status?: QuestionStatus;
  readonly run?: string;
}

const queryShape = tableShape<ListQuery>({
  status: choiceShape(...STATUSES),
  run: boundedText(64),
  ...pageFields,
});

const KINDS_OF: Readonly<Record<QuestionGroup, readonly Question["kind"][]>> = {
  approvals: ["approval", "confirmation"],
  questions: ["question"],
};

function groupOf({ kind }: Question): QuestionGroup {
  return KINDS_OF.questions.includes(kind) ? "questions" : "approvals";
}

/** A person on their own home sees their own folders: they approve exactly what is shown. */
async function projectQuestion(context: ServiceContext, { runId }: Question): Promise<(value: Json) => Json> {
  if (context.person) return (value) => createPathHider().cleanJson(value) as Json;
  return (await openProjection(context.journal, runId, context.hiddenFolders)).value;
}

/** As a client sees it: the journal's row, without the server's folders. */
async function showQuestion(context: ServiceContext, question: Question): Promise<JsonObject> {
  const show = await projectQuestion(context, question);
  const time = (name: string, at: number | undefined): JsonObject =>
    at === undefined ? {} : { [name]: new Date(at).toISOString() };
  const { rules: _, ...body } = show(question.body) as JsonObject;
  return {
    ...(await skillOf(context, question)),
    ...body,
    ...(body.input !== undefined && describeInput(body.input)),
    ...presentFields({ alwaysRule: showAlwaysRule(question) }),
    id: question.id,
    run: question.runId,
    root: question.rootId,
    kind: question.kind,
    status: question.status,
    ...time("askedAt", question.askedAt),
    ...time("expiresAt", question.expiresAt),
    ...time("answeredAt", question.answeredAt),
    ...presentFields({ answeredBy: (await nameAnswerer(context, question)).answeredBy }),
    ...(question.answer !== undefined && { answer: show(question.answer) }),
  };
}

/** By name, as long as whoever answered is a user. */
async function nameAnswerer({ people }: ServiceContext, question: Question): Promise<Question> {
  const { tenant, answeredBy } = question;
  return answeredBy === undefined
    ? question
    : { ...question, answeredBy: await people.show<string>(tenant, answeredBy) };
}

/** For a call from a capability: the run's. */
async function skillOf({ journal }: ServiceContext, { runId, body }: Question): Promise<JsonObject> {
  const skill = typeof body.skill === "string" ? body.skill : (await journal.get(runId))?.skill;
  return skill === undefined ? {} : { skill };
}

function describeInput(given: Json): JsonObject {
  const { input, isCut } = showInput(given);
  return isCut ? { input, isCut } : { input };
}

function listQuestions(
  context: ServiceContext,
  { tenant }: Identity,
  group: QuestionGroup,
  { run: rootId, status, ...page }: ListQuery,
): Promise<RouteOutcome> {
  const kinds = KINDS_OF[group];
  return replyPage(page, {
    read: (window) => context.journal.questions({ tenant, rootId, status, kinds, ...window }),
    cursor: ({ id }) => id,
    show: (question) => showQuestion(context, question),
  });
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
  const elsewhere = await refuseElsewhere(context, question.rootId);
  if (elsewhere) return elsewhere;
  const run = await context.journal.get(question.rootId);
  if (question.status === "pending" && (run === undefined || ENDED.has(run.status) || run.isCancelled)) {
    const status = run?.isCancelled ? "cancelled" : (run?.status ?? "gone");
    return refuse(
      409,
      "run_ended",
      `Run \`${question.rootId}\` is not waiting anymore: it is ${status}.`,
      "There is nothing left to answer.",
    );
  }
  // A person by their pseudonym: the run may be someone else's, and stays when this person is deleted.
  const by = identity.actor ?? identity.keyId;
  const line = tellOf(identity, `${question.kind}.${answer.status}`, question.id, {
    run: question.runId,
    ...pickTool(question),
    isEdited: isJsonObject(answer.answer) && "input" in answer.answer,
  });
  const outcome = await context.journal.answer(question.id, { ...answer, by }, line);
  if (outcome.kind === "unknown") return refuseMissing("question", question.id, "/v1/approvals");
  if (outcome.kind === "late") return refuseLate(await nameAnswerer(context, outcome.question));
  await context.engine.wake(question.rootId);
  context.notices.changed(question.runId);
  context.metrics.count("metier_questions_answered_total");
  return replyWith(await showQuestion(context, outcome.question));
}

function pickTool({ body }: Question): JsonObject {
  return typeof body.tool === "string" ? { tool: body.tool } : {};
}

/** Each way of being late, by name. */
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
      `\`${id}\` expired${at(expiresAt)}, so this answer has no effect.`,
      "The run was told that nobody answered. Start it again if you still want it.",
    );
  }
  if (status === "cancelled") {
    return refuse(
      409,
      "run_cancelled",
      `\`${id}\` was withdrawn: its run ended before anyone answered.`,
      "There is nothing left to answer.",
    );
  }
  const message = `\`${id}\` was already ${status} by ${answeredBy}${at(answeredAt)}; that answer stands.`;
  return refuse(409, "already_answered", message, "Follow the run's events to see the outcome.");
}

interface ApprovalBody {
  readonly decision: "approve" | "deny";
  readonly note?: string;
  readonly input?: Json;
  readonly always?: true;
}

const trueShape: Shape<true> = describedShape<true>(
  () => ({ const: true }),
  (value, place) => (value === true ? value : refuseShape(value, place, "`true`, or left out")),
);

interface QuestionBody {
  readonly answer: Json;
}

const listApprovals = defineRoute<ListQuery>({
  method: "GET",
  path: "/v1/approvals",
  scope: "read",
  group: GROUP,
  summary: "List approvals, oldest first.",
  query: queryShape,
  answers: pageAnswer("approvals", approvalSchema),
  handle: ({ query, identity }, context) => listQuestions(context, identity, "approvals", query),
});

const readApproval = defineRoute({
  method: "GET",
  path: "/v1/approvals/{id}",
  scope: "read",
  group: GROUP,
  summary: "Get an approval: the tool, its input, the rule that asks, and the answer, if any.",
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
    "Approve or deny a tool call or a capability's change. With `input`, the tool call is approved with your edited input. With `always`, a rule for such calls is also added to the config (scope `admin`).",
  body: tableShape<ApprovalBody>(
    {
      decision: choiceShape("approve", "deny"),
      note: boundedText(10_000),
      input: jsonShape,
      always: trueShape,
    },
    ["decision"],
  ),
  answers: { 200: { about: "The approval with this answer.", schema: approvalSchema } },
  async handle({ body: { decision, always, ...answer }, identity, param }, context) {
    const found = await findQuestion(context, identity, "approvals", param("id"));
    if (!found.ok) return found;
    if (decision === "deny" && "input" in answer) {
      return refuseRequest(
        "`input` cannot be sent with a denial.",
        "Leave `input` out, or approve the call.",
      );
    }
    if (found.value.kind === "confirmation" && "input" in answer) {
      return refuseRequest(
        "A capability's change cannot be edited: you confirm exactly what is asked.",
        "Leave `input` out, or deny with a `note` that says what to do instead.",
      );
    }
    if (decision === "approve" && !("input" in answer) && (await showQuestion(context, found.value)).isCut) {
      return refuse(
        409,
        "input_not_shown",
        `\`${found.value.id}\` cannot be approved as it is: its input is too large or too deep to show in full (\`isCut\`).`,
        "Deny it, or approve it with your own `input`.",
      );
    }
    if (always && (decision === "deny" || "input" in answer)) {
      return refuseRequest("`always` only works for a call approved without changes.", "Leave `always` out.");
    }
    if (always) {
      const elsewhere = await refuseElsewhere(context, found.value.rootId);
      const allowed = elsewhere ?? (await allowAlways(context, identity, found.value));
      if (!allowed.ok) return allowed;
    }
    const status = decision === "approve" ? "approved" : "denied";
    if (answer.input === undefined) return giveAnswer(context, identity, found.value, { status, answer });
    const show = await projectQuestion(context, found.value);
    const input = readEditedInput(answer.input, found.value.body.input ?? null, show);
    if (!input.ok) return input;
    return giveAnswer(context, identity, found.value, { status, answer: { ...answer, input: input.value } });
  },
});

const listOpenQuestions = defineRoute<ListQuery>({
  method: "GET",
  path: "/v1/questions",
  scope: "read",
  group: "questions",
  summary: "List the questions that runs asked their users, oldest first.",
  query: queryShape,
  answers: pageAnswer("questions", questionSchema),
  handle: ({ query, identity }, context) => listQuestions(context, identity, "questions", query),
});

const answerQuestion = defineRoute<Record<never, never>, QuestionBody>({
  method: "POST",
  path: "/v1/questions/{id}",
  scope: "run",
  group: "questions",
  summary: "Answer a run's question.",
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
