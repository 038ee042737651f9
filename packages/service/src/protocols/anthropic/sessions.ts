/** Managed Agents: sessions, and the one environment that there is. */
import { isJsonObject, type JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { listShape, refuseShape, type Shape, tableShape } from "@metier/base/shape";
import { ENDED } from "@metier/durable";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuseMissing } from "../../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../../http/route.ts";
import { findPinnedAgent } from "../../runs/agent-versions.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { listIn, notTaken, orNull, textBlocks, textIn } from "../foreign-shapes.ts";
import { sendMessage } from "../send-message.ts";
import { findAgentNamed, showDefinition } from "./agents.ts";
import { type AnthropicPage, GROUP, PAGE_FIELDS, pageRoute } from "./anthropic-page.ts";

/** Runs have the sandbox of the service: nobody chooses another one. */
const ENVIRONMENT = "env_metier";

interface AgentChoice {
  readonly id: string;
  readonly version?: number;
}

const agentShape: Shape<AgentChoice> = (value, place) => {
  const { type, id, version, ...rest } = isJsonObject(value) ? value : { type: "agent", id: value };
  const isVersion = version === undefined || Number.isInteger(version);
  return type === "agent" && typeof id === "string" && isVersion && Object.keys(rest).length === 0
    ? { id, ...(typeof version === "number" && { version }) }
    : refuseShape(value, place, "the id of an agent, or an `agent` with `id` and `version`");
};

const environmentShape: Shape<string> = (value, place) =>
  value === ENVIRONMENT
    ? value
    : refuseShape(value, place, `\`${ENVIRONMENT}\`: the service has one environment`);

const firstMessageShape: Shape<string> = (value, place) => {
  const { type, content } = isJsonObject(value) ? value : {};
  return type === "user.message"
    ? textBlocks("text")(content, place)
    : refuseShape(value, place, "a `user.message`");
};

interface SessionBody {
  readonly agent: AgentChoice;
  readonly environment_id: string;
  readonly title?: string | null;
  readonly initial_events?: readonly string[];
  readonly metadata?: null;
  readonly resources?: null;
  readonly vault_ids?: null;
  readonly budget?: null;
}

/** A turn of a session, as the API shows it. */
export interface SessionTurn {
  readonly number: number;
  readonly run: string;
  readonly message: string;
}

export async function readTurns(
  asking: InnerRequest,
  context: ServiceContext,
  id: string,
): Promise<Result<readonly SessionTurn[], HttpRefusal>> {
  const found = await askRoute("GET /v1/sessions/{id}/messages", asking, context, { params: { id } });
  if (!found.ok) return found;
  return done(
    listIn(found.value.data).map(({ turn, run, message }) => {
      return { number: Number(turn), run: textIn(run), message: textIn(message) };
    }),
  );
}

async function showSession(
  asking: InnerRequest,
  context: ServiceContext,
  session: JsonObject,
): Promise<JsonObject> {
  const { records, journal } = context;
  const reference = textIn(session.agent);
  const agent = await findPinnedAgent(records, asking.identity.tenant, reference);
  const turns = await readTurns(asking, context, textIn(session.id));
  const ids = turns.ok ? turns.value.map(({ run }) => run) : [];
  const runs = (await Promise.all(ids.map((id) => journal.get(id)))).filter((run) => run !== undefined);
  const sum = (name: string): number =>
    runs.reduce((total, { result }) => {
      const { usage } = isJsonObject(result) ? result : {};
      return total + (isJsonObject(usage) ? Number(usage[name] ?? 0) : 0);
    }, 0);
  const last = runs.at(-1);
  const isWorking = last !== undefined && !ENDED.has(last.status) && last.status !== "waiting";
  return {
    type: "session",
    id: textIn(session.id),
    agent: showDefinition(
      agent?.name ?? reference,
      agent?.version ?? 1,
      (agent?.definition ?? {}) as unknown as JsonObject,
    ),
    status: isWorking ? "running" : "idle",
    title: session.title ?? null,
    environment_id: ENVIRONMENT,
    created_at: session.createdAt ?? null,
    updated_at: last === undefined ? (session.createdAt ?? null) : new Date(last.updatedAt).toISOString(),
    archived_at: null,
    metadata: {},
    budget: null,
    resources: [],
    vault_ids: [],
    outcome_evaluations: [],
    stats: { active_seconds: runs.reduce((total, { activeMs }) => total + activeMs / 1000, 0) },
    usage: { input_tokens: sum("inputTokens"), output_tokens: sum("outputTokens") },
  };
}

const createSession = defineRoute<Record<never, never>, SessionBody>({
  method: "POST",
  path: "/anthropic/v1/sessions",
  scope: "run",
  group: GROUP,
  summary: "Open a session with an agent.",
  body: tableShape<SessionBody>(
    {
      agent: agentShape,
      environment_id: environmentShape,
      title: orNull(boundedText(200)),
      initial_events: listShape(firstMessageShape),
      metadata: notTaken("Metier keeps no metadata of sessions."),
      resources: notTaken("Give the agent a skill with the files instead."),
      vault_ids: notTaken("Secrets are declared by skills."),
      budget: notTaken("Set `limits` of the agent, or a quota."),
    },
    ["agent", "environment_id"],
  ),
  answers: { 200: { about: "The session." } },
  async handle(request, context) {
    const { agent, title, initial_events: events = [] } = request.body;
    const found = await findAgentNamed(request, context, agent.id, agent.version);
    if (!found.ok) return found;
    const body = { agent: `${found.value.name}@${found.value.version}`, ...(title && { title }) };
    const made = await askRoute("POST /v1/sessions", request, context, { body });
    if (!made.ok) return made;
    if (events.length > 0) {
      const session = { id: textIn(made.value.id), isNew: true };
      const sent = await sendMessage(request, context, session, events.join("\n\n"));
      if (!sent.ok) return sent;
    }
    return replyWith(await showSession(request, context, made.value));
  },
});

const listSessions = pageRoute({
  path: "/anthropic/v1/sessions",
  summary: "List sessions, oldest first.",
  list: "GET /v1/sessions",
  show: showSession,
});

const readSession = defineRoute({
  method: "GET",
  path: "/anthropic/v1/sessions/{id}",
  scope: "read",
  group: GROUP,
  summary: "Read a session.",
  answers: { 200: { about: "The session." } },
  async handle(request, context) {
    const params = { id: request.param("id") };
    const found = await askRoute("GET /v1/sessions/{id}", request, context, { params });
    return found.ok ? replyWith(await showSession(request, context, found.value)) : found;
  },
});

function showEnvironment({ version }: ServiceContext): JsonObject {
  return {
    type: "environment",
    id: ENVIRONMENT,
    name: "Metier",
    description: `The sandbox of this service (Metier ${version}).`,
    config: { type: "self_hosted" },
    metadata: {},
    archived_at: null,
    created_at: new Date(0).toISOString(),
    updated_at: new Date(0).toISOString(),
  };
}

const listEnvironments = defineRoute<AnthropicPage>({
  method: "GET",
  path: "/anthropic/v1/environments",
  scope: "read",
  group: GROUP,
  summary: "List environments: there is one.",
  query: tableShape<AnthropicPage>(PAGE_FIELDS),
  answers: { 200: { about: "The environment." } },
  handle: async (_, context) => replyWith({ data: [showEnvironment(context)], next_page: null }),
});

const readEnvironment = defineRoute({
  method: "GET",
  path: "/anthropic/v1/environments/{id}",
  scope: "read",
  group: GROUP,
  summary: "Read the environment.",
  answers: { 200: { about: "The environment." } },
  async handle({ param }, context) {
    return param("id") === ENVIRONMENT
      ? replyWith(showEnvironment(context))
      : refuseMissing("environment", param("id"), "/anthropic/v1/environments");
  },
});

export const SESSION_ROUTES: readonly ServiceRoute[] = [
  createSession,
  listSessions,
  readSession,
  listEnvironments,
  readEnvironment,
];
