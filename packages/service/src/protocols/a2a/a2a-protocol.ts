/** A2A 1.0 under `/a2a`: the card at its well-known place lists the skills of the tenant, and JSON-RPC does the rest. */
import type { Json, JsonObject } from "@metier/base/json";
import { done } from "@metier/base/result";
import { type DurableRun, ENDED } from "@metier/durable";
import { type HttpRefusal, refuse } from "../../http/refusal.ts";
import {
  defineRoute,
  type RouteOutcome,
  type RouteRequest,
  replyWith,
  type ServiceRoute,
} from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import type { InnerRequest } from "../ask-route.ts";
import { answerFrames, type FollowLife, frameOf, QUIET_FRAME, waitForEnd } from "../follow.ts";
import type { Protocol } from "../protocol.ts";
import type { ThreadTarget } from "../threads.ts";
import {
  cancelTask,
  findTask,
  type Outcome,
  readTask,
  refuseEnded,
  refusePush,
  type TaskAt,
  takeMessage,
} from "./a2a-methods.ts";
import { answerCard, makeCard } from "./agent-card.ts";
import { listTasks } from "./list-tasks.ts";
import { type A2aRequest, readRpc, rpcError, rpcResult } from "./rpc.ts";
import { updateTask } from "./task-stream.ts";

const PREFIX = "/a2a";
const VERSIONS: ReadonlySet<string> = new Set(["1.0", "1.0.0"]);

/** A request, and whom its address names. */
interface A2aCall extends A2aRequest {
  readonly place: ThreadTarget;
}

type Answering = (asking: InnerRequest, context: ServiceContext, call: A2aCall) => Promise<RouteOutcome>;

/** A refusal is an answer of JSON-RPC, under the status that the API has for it. */
function say(id: Json | undefined, outcome: Outcome<JsonObject>): RouteOutcome {
  if (outcome.ok) return replyWith(rpcResult(id, outcome.value));
  return done(refuseRpc(id, outcome.refusal));
}

function refuseRpc(id: Json | undefined, refusal: HttpRefusal): Response {
  const { status, headers } = refusal;
  const init = { status: status === 422 ? 400 : status, ...(headers && { headers }) };
  return Response.json(rpcError(refusal, id), init);
}

/** With the task as it is first. What it asks there already is not told again. */
async function stream(
  asking: InnerRequest,
  context: ServiceContext,
  id: Json | undefined,
  at: TaskAt,
  until: "asked" | "ended",
): Promise<RouteOutcome> {
  const task = await readTask(asking, context, at.run);
  if (!task.ok) return say(id, task);
  const told = JSON.stringify(task.value.status);
  return answerFrames(asking, context, async function* (life) {
    yield frameOf(rpcResult(id, { task: task.value }));
    for await (const update of updateTask(asking, context, at, life, until)) {
      const { status } = (update?.statusUpdate ?? {}) as JsonObject;
      if (status !== undefined && JSON.stringify(status) === told) continue;
      yield update === undefined ? QUIET_FRAME : frameOf(rpcResult(id, update));
    }
  });
}

const withTask =
  (
    answer: (asking: InnerRequest, context: ServiceContext, run: DurableRun) => Promise<Outcome<JsonObject>>,
  ): Answering =>
  async (asking, context, { id, params }) => {
    const run = await findTask(asking, context, params);
    return say(id, run.ok ? await answer(asking, context, run.value) : run);
  };

const METHODS: Readonly<Record<string, Answering>> = {
  async SendMessage(asking, context, { id, params, place }) {
    const taken = await takeMessage(asking, context, params, place);
    if (!taken.ok) return say(id, taken);
    if (!taken.value.sent.configuration?.returnImmediately) {
      // Until a person is asked, or it has ended.
      const tell = (life: FollowLife) => updateTask(asking, context, taken.value, life, "asked");
      const waited = await waitForEnd(asking, context, tell);
      if (!waited.ok) return say(id, waited);
    }
    const task = await readTask(asking, context, taken.value.run);
    return say(id, task.ok ? done({ task: task.value }) : task);
  },
  async SendStreamingMessage(asking, context, { id, params, place }) {
    const taken = await takeMessage(asking, context, params, place);
    return taken.ok ? stream(asking, context, id, taken.value, "asked") : say(id, taken);
  },
  async SubscribeToTask(asking, context, { id, params }) {
    const run = await findTask(asking, context, params);
    if (!run.ok) return say(id, run);
    if (ENDED.has(run.value.status)) return say(id, refuseEnded(run.value.id));
    return stream(asking, context, id, { run: run.value, after: run.value.lastEvent }, "ended");
  },
  GetTask: withTask(readTask),
  CancelTask: withTask(cancelTask),
  ListTasks: async (asking, context, { id, params }) => say(id, await listTasks(asking, context, params)),
  GetExtendedAgentCard: async (_asking, _context, { id }) =>
    say(
      id,
      refuse(422, "no_extended_card", "There is no other card.", "Use the card at its well-known place."),
    ),
};

async function answerCall(
  request: RouteRequest<unknown, Buffer>,
  context: ServiceContext,
  place: ThreadTarget,
): Promise<RouteOutcome> {
  const read = readRpc(request.headers, request.body);
  if (!read.ok) return say(null, read);
  const { id, method } = read.value;
  const version = request.headers.get("a2a-version");
  if (version !== null && !VERSIONS.has(version)) {
    const message = `This service speaks A2A 1.0, not \`${version.slice(0, 20)}\`.`;
    return say(id, refuse(422, "version_not_supported", message, "Use a client for A2A 1.0."));
  }
  const answer = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (answer) return answer(request, context, { ...read.value, place });
  if (/PushNotificationConfig/.test(method)) return say(id, refusePush());
  const hint = `Use one of ${Object.keys(METHODS).join(", ")}.`;
  return say(id, refuse(404, "method_not_found", "A2A has no such method here.", hint));
}

/** The whole service is an agent, and so is each skill and each agent of it: clients without metadata use those. */
const PLACES: Readonly<Record<string, (param: (name: string) => string) => ThreadTarget>> = {
  [PREFIX]: () => ({}),
  [`${PREFIX}/skills/{skill}`]: (param) => ({ skill: param("skill") }),
  [`${PREFIX}/agents/{agent}`]: (param) => ({ agent: param("agent") }),
};

function routesAt(path: string, placeOf: (param: (name: string) => string) => ThreadTarget): ServiceRoute[] {
  const makeRpcRoute = (at: string): ServiceRoute =>
    defineRoute<Record<never, never>, Buffer>({
      method: "POST",
      path: at,
      scope: "read",
      group: "a2a",
      summary: "Call a method of A2A.",
      takes: "raw",
      answers: { 200: { about: "An answer of JSON-RPC, or a stream of them.", type: "text/event-stream" } },
      handle: (request, context) => answerCall(request, context, placeOf(request.param)),
    });
  const cardRoute = defineRoute({
    method: "GET",
    path: `${path}/.well-known/agent-card.json`,
    scope: "read",
    group: "a2a",
    summary: "The card: where it is answered, and which skills there are.",
    answers: { 200: { about: "An agent card of A2A." } },
    async handle(request, context) {
      const card = await makeCard(request, context, PREFIX, placeOf(request.param));
      return card.ok ? answerCard(request.headers, card.value) : card;
    },
  });
  // Some clients put a slash behind the address that the card names.
  return [cardRoute, makeRpcRoute(path), makeRpcRoute(`${path}/`)];
}

export const A2A: Protocol = {
  name: "A2A",
  prefix: PREFIX,
  routes: Object.entries(PLACES).flatMap(([path, placeOf]) => routesAt(path, placeOf)),
  tell(refusal) {
    const { status, headers } = refusal;
    return { status: status === 422 ? 400 : status, headers, body: rpcError(refusal) };
  },
};
