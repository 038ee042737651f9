/** Managed Agents: agents. An agent's id is its name in Metier; its versions are Metier's. */
import { randomBytes } from "node:crypto";
import { isJsonObject, type JsonObject, presentFields } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import { listShape, tableShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { type HttpRefusal, refuse } from "../../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { listIn, notTaken, numberLike, orNull, textIn } from "../foreign-shapes.ts";
import { modelShape, showTools, skillShape, toolShape } from "./agent-parts.ts";
import { GROUP, PAGE_FIELDS, pageRoute } from "./anthropic-page.ts";

interface AgentFields {
  readonly name?: string;
  readonly model?: string;
  readonly system?: string | null;
  readonly description?: string | null;
  readonly skills?: readonly string[] | null;
  readonly tools?: readonly (readonly string[])[] | null;
  readonly version?: number;
  readonly metadata?: null;
  readonly mcp_servers?: null;
  readonly multiagent?: null;
  readonly execution_identity?: null;
}

const bodyFields = {
  name: boundedText(256, 1),
  model: modelShape,
  system: orNull(boundedText(100_000)),
  description: orNull(boundedText(1_000)),
  skills: orNull(listShape(skillShape)),
  tools: orNull(listShape(toolShape)),
  version: numberLike,
  metadata: notTaken("Metier keeps no metadata of agents."),
  mcp_servers: notTaken("Configure MCP servers in Metier's config."),
  multiagent: notTaken("Let skills start other skills instead."),
  execution_identity: notTaken("A run acts as the user of the key."),
};

/** Of Metier: what an agent of this protocol needs to use its skills. */
const SKILL_TOOLS = ["use_skill", "list_skills", "find_skills", "read_skill_file", "run_script", "ask_user"];

/** `before`: the version that is changed; what is left out stays as it is there, also a missing list, which means all. */
function toDefinition(fields: AgentFields, id: string, before?: JsonObject): JsonObject {
  const { name, model, system, description, skills, tools } = fields;
  const title = name ?? before?.title;
  const usual = `You are the agent "${textIn(title) || id}".`;
  return presentFields({
    title,
    instructions: (system === undefined ? before?.instructions : system) || usual,
    description: description === undefined ? before?.description : (description ?? undefined),
    model: model === undefined ? before?.model : model === "default" ? undefined : model,
    skills: skills === undefined && before ? before.skills : (skills ?? []),
    tools: tools === undefined && before ? before.tools : [...SKILL_TOOLS, ...(tools ?? []).flat()],
  }) as JsonObject;
}

/** As the API answers it. */
async function showAgent(
  asking: InnerRequest,
  context: ServiceContext,
  { name, version, definition, createdAt }: JsonObject,
): Promise<JsonObject> {
  const first = await askRoute("GET /v1/agents/{name}/versions", asking, context, {
    params: { name: textIn(name) },
    query: { limit: 1 },
  });
  const [oldest] = first.ok ? listIn(first.value.data) : [];
  return {
    ...showDefinition(textIn(name), Number(version), isJsonObject(definition) ? definition : {}),
    metadata: {},
    archived_at: null,
    created_at: oldest?.createdAt ?? createdAt ?? null,
    updated_at: createdAt ?? null,
  };
}

/** What an agent is, in one version. */
export function showDefinition(id: string, version: number, definition: JsonObject): JsonObject {
  const skills = Array.isArray(definition.skills) ? definition.skills : [];
  return {
    type: "agent",
    id,
    version,
    name: definition.title ?? id,
    description: definition.description ?? null,
    system: definition.instructions ?? null,
    model: { id: definition.model ?? "default" },
    skills: skills.map((skill) => ({ type: "custom", skill_id: skill, version: "latest" })),
    tools: showTools(definition.tools),
    mcp_servers: [],
    multiagent: null,
    execution_identity: { type: "service_account" },
  };
}

export async function findAgentNamed(
  asking: InnerRequest,
  context: ServiceContext,
  id: string,
  version?: number,
): Promise<Result<JsonObject, HttpRefusal>> {
  const name = version === undefined ? id : `${id}@${version}`;
  return askRoute("GET /v1/agents/{name}", asking, context, { params: { name } });
}

const createAgent = defineRoute<Record<never, never>, AgentFields>({
  method: "POST",
  path: "/anthropic/v1/agents",
  scope: "write",
  group: GROUP,
  summary: "Make an agent.",
  body: tableShape<AgentFields>(bodyFields, ["name", "model"]),
  answers: { 200: { about: "The agent." } },
  async handle(request, context) {
    const { body } = request;
    const plain = (body.name ?? "")
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "");
    const slug = plain.slice(0, 48) || "agent";
    const definition = toDefinition(body, slug);
    const add = (name: string) =>
      askRoute("POST /v1/agents", request, context, { body: { name, ...definition } });
    let made = await add(slug);
    // Names are not unique there: another agent has this one.
    if (!made.ok && made.refusal.code === "agent_exists")
      made = await add(`${slug}-${randomBytes(4).toString("hex")}`);
    return made.ok ? replyWith(await showAgent(request, context, made.value)) : made;
  },
});

const listAgents = pageRoute({
  path: "/anthropic/v1/agents",
  summary: "List agents.",
  list: "GET /v1/agents",
  show: showAgent,
});

interface VersionQuery {
  readonly version?: number;
  readonly beta?: unknown;
}

const readAgent = defineRoute<VersionQuery>({
  method: "GET",
  path: "/anthropic/v1/agents/{name}",
  scope: "read",
  group: GROUP,
  summary: "Read an agent.",
  query: tableShape<VersionQuery>({ version: numberLike, beta: PAGE_FIELDS.beta }),
  answers: { 200: { about: "The agent." } },
  async handle(request, context) {
    const found = await findAgentNamed(request, context, request.param("name"), request.query.version);
    return found.ok ? replyWith(await showAgent(request, context, found.value)) : found;
  },
});

const updateAgent = defineRoute<Record<never, never>, AgentFields>({
  method: "POST",
  path: "/anthropic/v1/agents/{name}",
  scope: "write",
  group: GROUP,
  summary: "Change an agent: a new version.",
  body: tableShape<AgentFields>(bodyFields),
  answers: { 200: { about: "The new version." } },
  async handle(request, context) {
    const name = request.param("name");
    const before = await findAgentNamed(request, context, name);
    if (!before.ok) return before;
    const { version } = request.body;
    if (version !== undefined && version !== before.value.version) {
      const message = `\`version\` is ${version}, but the agent is at version ${before.value.version}.`;
      return refuse(409, "agent_changed", message, "Read the agent again, then repeat your change.");
    }
    const definition = isJsonObject(before.value.definition) ? before.value.definition : {};
    const { limits } = definition;
    const made = await askRoute("POST /v1/agents/{name}/versions", request, context, {
      params: { name },
      body: { ...toDefinition(request.body, name, definition), ...(limits !== undefined && { limits }) },
    });
    return made.ok ? replyWith(await showAgent(request, context, made.value)) : made;
  },
});

const archiveAgent = defineRoute({
  method: "POST",
  path: "/anthropic/v1/agents/{name}/archive",
  scope: "write",
  group: GROUP,
  summary: "Remove an agent for new sessions.",
  answers: { 200: { about: "The agent as it was." } },
  async handle(request, context) {
    const name = request.param("name");
    const before = await findAgentNamed(request, context, name);
    if (!before.ok) return before;
    const shown = await showAgent(request, context, before.value);
    const removed = await askRoute("DELETE /v1/agents/{name}", request, context, { params: { name } });
    return removed.ok ? replyWith({ ...shown, archived_at: new Date(context.now()).toISOString() }) : removed;
  },
});

const listVersions = pageRoute({
  path: "/anthropic/v1/agents/{name}/versions",
  summary: "List the versions of an agent, oldest first.",
  list: "GET /v1/agents/{name}/versions",
  show: showAgent,
});

export const AGENT_ROUTES: readonly ServiceRoute[] = [
  createAgent,
  listAgents,
  readAgent,
  updateAgent,
  archiveAgent,
  listVersions,
];
