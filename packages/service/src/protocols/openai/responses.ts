/** Responses: each conversation is a session of Metier, each response a part of one of its runs. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { choiceShape, listShape, tableShape } from "@metier/base/shape";
import type { DurableRun } from "@metier/durable";
import { checkStreamRoom } from "../../http/answer-stream.ts";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuse, refuseMissing, refuseRequest } from "../../http/refusal.ts";
import { defineRoute, type RouteOutcome, replyWith, type ServiceRoute } from "../../http/route.ts";
import { findRun } from "../../routes/find-run.ts";
import { pinnedOf } from "../../runs/project-run.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { readPending } from "../follow.ts";
import { ignored, listIn, numberLike, textIn } from "../foreign-shapes.ts";
import { sendMessage } from "../send-message.ts";
import { followResponse, readResponseNow, streamResponse } from "./follow-response.ts";
import { type ResponseName, readApprovalId, readResponseId } from "./project-response.ts";
import { type ResponseBody, responseShape } from "./response-input.ts";

export const GROUP = "openai";

const createResponse = defineRoute<Record<never, never>, ResponseBody>({
  method: "POST",
  path: "/openai/v1/responses",
  scope: "run",
  group: GROUP,
  summary: "Start a response, continue a conversation, or answer approvals.",
  body: responseShape,
  answers: { 200: { about: "The response, or its stream." } },
  async handle(request, context) {
    const { stream, background } = request.body;
    const room = stream || !background ? checkStreamRoom(context, request.identity) : done(undefined);
    if (!room.ok) return room;
    const begun = await begin(request, context, request.body);
    if (!begun.ok) return begun;
    // In the background a stream can be read again by number, so it has no text that nobody keeps.
    if (stream) return streamResponse(request, context, begun.value, { isLive: !background });
    if (background) return answerNow(request, context, begun.value);
    return followResponse(request, context, begun.value);
  },
});

async function begin(
  asking: InnerRequest,
  context: ServiceContext,
  body: ResponseBody,
): Promise<Result<ResponseName, HttpRefusal>> {
  const { input, model, previous_response_id: previous } = body;
  const before = previous ? await findResponse(asking, context, previous) : undefined;
  if (before && !before.ok) return before;
  if (input.answers) {
    if (before === undefined)
      return refuseRequest(
        "Approvals are answered without `previous_response_id`.",
        "Name the response that asked.",
      );
    return answerApprovals(asking, context, before.value, input.answers);
  }
  const session = before
    ? done(textIn(pinnedOf(before.value.run).session))
    : await openSession(asking, context, model);
  if (!session.ok) return session;
  if (before) {
    const last = await isLast(asking, context, session.value, before.value);
    if (!last.ok) return last;
    const same = await isSameModel(asking, context, session.value, model);
    if (!same.ok) return same;
  }
  const place = { id: session.value, isNew: before === undefined };
  const sent = await sendMessage(asking, context, place, input.message ?? "");
  return sent.ok ? done({ run: sent.value, part: 0 }) : sent;
}

/** A conversation goes on at its end. */
async function isLast(
  asking: InnerRequest,
  context: ServiceContext,
  id: string,
  { run, part }: FoundResponse,
): Promise<Result<undefined, HttpRefusal>> {
  if (id === "")
    return refuseRequest(
      "`previous_response_id` names a run that is not part of a conversation.",
      "Start a new response without it.",
    );
  const found = await askRoute("GET /v1/sessions/{id}/messages", asking, context, { params: { id } });
  if (!found.ok) return found;
  const itself = await readResponseNow(asking, context, { run: run.id, part });
  if (!itself.ok) return itself;
  const isLastRun = listIn(found.value.data).at(-1)?.run === run.id;
  const later = await readResponseNow(asking, context, { run: run.id, part: part + 1 });
  if (isLastRun && !later.ok) return done(undefined);
  return refuseRequest(
    "`previous_response_id` is not the last response of its conversation.",
    "Continue with the last one: Metier has no branches.",
  );
}

/** A conversation stays with the skill or agent it began with. */
async function isSameModel(
  asking: InnerRequest,
  context: ServiceContext,
  id: string,
  model: string | undefined,
): Promise<Result<undefined, HttpRefusal>> {
  const found = await askRoute("GET /v1/sessions/{id}", asking, context, { params: { id } });
  if (!found.ok) return found;
  const { skill, agent } = found.value;
  const own = skill === undefined ? textIn(agent) : `skill/${textIn(skill)}`;
  if (model === undefined || model === own) return done(undefined);
  const message = `\`model\` is \`${model}\`, but the conversation is with \`${own}\`.`;
  return refuseRequest(message, "Use its model, or start a new response without `previous_response_id`.");
}

/** `skill/<name>`, or an agent. Looked up first, so that no empty conversation is left behind. */
async function openSession(
  asking: InnerRequest,
  context: ServiceContext,
  model = "",
): Promise<Result<string, HttpRefusal>> {
  const [, skill] = /^skill\/(.+)$/.exec(model) ?? [];
  if (skill !== undefined) {
    const skills = await askRoute("GET /v1/skills", asking, context);
    if (!skills.ok) return skills;
    if (!listIn(skills.value.data).some(({ name }) => name === skill)) return refuseModel(model);
  } else if (!(await askRoute("GET /v1/agents/{name}", asking, context, { params: { name: model } })).ok)
    return refuseModel(model);
  const body = skill === undefined ? { agent: model } : { skill };
  const made = await askRoute("POST /v1/sessions", asking, context, { body });
  return made.ok ? done(textIn(made.value.id)) : made;
}

function refuseModel(model: string): Result<never, HttpRefusal> {
  const message = `No skill or agent matches the model \`${model}\`.`;
  return refuse(
    404,
    "model_not_found",
    message,
    "Use `skill/<name>`, or the name of an agent. `GET /openai/v1/models` lists them.",
  );
}

interface FoundResponse extends Pick<ResponseName, "part"> {
  readonly run: DurableRun;
}

async function findResponse(
  { identity }: InnerRequest,
  context: ServiceContext,
  id: string,
): Promise<Result<FoundResponse, HttpRefusal>> {
  const name = readResponseId(id);
  const run = name ? await findRun(context, identity, name.run) : undefined;
  if (name === undefined || !run?.ok || run.value.rootId !== run.value.id)
    return refuseMissing("response", id, "/v1/runs");
  return done({ run: run.value, part: name.part });
}

/** All that the run waits for at once, as OpenAI's clients answer them. */
async function answerApprovals(
  asking: InnerRequest,
  context: ServiceContext,
  { run, part }: FoundResponse,
  answers: NonNullable<ResponseBody["input"]["answers"]>,
): Promise<Result<ResponseName, HttpRefusal>> {
  const asked = await readResponseNow(asking, context, { run: run.id, part });
  if (!asked.ok) return asked;
  const { approvals } = await readPending(asking, context, run.id);
  const open = approvals.filter((approval) => approval.run === run.id).map(({ id }) => textIn(id));
  const given = answers.map(({ id }) => readApprovalId(id));
  const ofResponse = listIn(asked.value.output).map(({ id }) => textIn(id));
  const isOpen =
    given.every((id) => open.includes(id)) &&
    open.every((id) => given.includes(id)) &&
    answers.every(({ id }) => ofResponse.includes(id));
  if (!isOpen || open.length === 0) {
    const message = `The response waits for ${open.length} approvals, and your answers don't match them.`;
    return refuseRequest(message, "Answer each `mcp_approval_request` of the last response, in one request.");
  }
  for (const { id, approve, reason } of answers) {
    const params = { id: readApprovalId(id) };
    const body = { decision: approve ? "approve" : "deny", ...(reason !== undefined && { note: reason }) };
    const answered = await askRoute("POST /v1/approvals/{id}", asking, context, { params, body });
    if (!answered.ok) return answered;
  }
  return done({ run: run.id, part: part + 1 });
}

async function answerNow(
  asking: InnerRequest,
  context: ServiceContext,
  name: ResponseName,
): Promise<RouteOutcome> {
  const shown = await readResponseNow(asking, context, name);
  return shown.ok ? replyWith(shown.value) : shown;
}

interface ReadQuery {
  readonly stream?: "true" | "false";
  readonly starting_after?: number;
  readonly "include[]"?: readonly string[];
  readonly include_obfuscation?: unknown;
}

const readOne = defineRoute<ReadQuery>({
  method: "GET",
  path: "/openai/v1/responses/{id}",
  scope: "read",
  group: GROUP,
  summary: "Read a response, or follow its stream from a number on.",
  query: tableShape<ReadQuery>({
    stream: choiceShape("true", "false"),
    starting_after: numberLike,
    "include[]": listShape(boundedText(200)),
    include_obfuscation: ignored,
  }),
  answers: { 200: { about: "The response, or its stream." } },
  async handle(request, context) {
    const found = await findResponse(request, context, request.param("id"));
    if (!found.ok) return found;
    const name = { run: found.value.run.id, part: found.value.part };
    const shown = await readResponseNow(request, context, name);
    if (!shown.ok) return shown;
    const { stream, starting_after: after = -1 } = request.query;
    return stream === "true"
      ? streamResponse(request, context, name, { isLive: false, after })
      : replyWith(shown.value);
  },
});

const cancelOne = defineRoute({
  method: "POST",
  path: "/openai/v1/responses/{id}/cancel",
  scope: "run",
  group: GROUP,
  summary: "Cancel the run of a response.",
  answers: { 200: { about: "The response." } },
  async handle(request, context) {
    const found = await findResponse(request, context, request.param("id"));
    if (!found.ok) return found;
    const params = { id: found.value.run.id };
    const ended = await askRoute("POST /v1/runs/{id}/cancel", request, context, { params });
    if (!ended.ok) return ended;
    return answerNow(request, context, { run: params.id, part: found.value.part });
  },
});

const listModels = defineRoute({
  method: "GET",
  path: "/openai/v1/models",
  scope: "read",
  group: GROUP,
  summary: "List what can be named as a model: skills and agents.",
  answers: { 200: { about: "All of them." } },
  async handle(request, context) {
    const skills = await askRoute("GET /v1/skills", request, context);
    if (!skills.ok) return skills;
    const agents = await askRoute("GET /v1/agents", request, context, { query: { limit: 500 } });
    if (!agents.ok) return agents;
    const show = (id: string): JsonObject => ({ id, object: "model", created: 0, owned_by: "metier" });
    const data = [
      ...listIn(skills.value.data).map(({ name }) => show(`skill/${textIn(name)}`)),
      ...listIn(agents.value.data).map(({ name }) => show(textIn(name))),
    ];
    return replyWith({ object: "list", data });
  },
});

export const RESPONSE_ROUTES: readonly ServiceRoute[] = [createResponse, readOne, cancelOne, listModels];
