/** Agents: a named set of instructions, model, skills and limits. Each change is a new version; runs keep theirs. */
import { type JsonObject, presentFields } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import {
  boundedText,
  DEFAULT_PAGE,
  fieldsOf,
  listOf,
  NUMBER,
  pageLimit,
  plainName,
  TEXT,
  TIME,
} from "../http/query-shapes.ts";
import { refuse, refuseUnknown } from "../http/refusal.ts";
import { answerWith, defineRoute, type ServiceRoute } from "../http/route.ts";
import {
  type AgentDefinition,
  type AgentVersion,
  addVersion,
  agentFields,
  findAgent,
  listAgents,
  listVersions,
  removeAgent,
} from "../runs/agent-versions.ts";

const GROUP = "agents";
const agentSchema = fieldsOf({
  name: TEXT,
  version: NUMBER,
  definition: { type: "object" },
  createdAt: TIME,
});

interface NewAgentBody extends AgentDefinition {
  readonly name: string;
}

interface PageQuery {
  readonly after?: string;
  readonly limit?: number;
}

function showAgent({ name, version, definition, createdAt }: AgentVersion): JsonObject {
  return {
    name,
    version,
    definition: presentFields(definition) as unknown as JsonObject,
    createdAt: new Date(createdAt).toISOString(),
  };
}

const createAgent = defineRoute<Record<never, never>, NewAgentBody>({
  method: "POST",
  path: "/v1/agents",
  scope: "write",
  group: GROUP,
  summary: "Make an agent; this is its version 1.",
  body: tableShape<NewAgentBody>({ ...agentFields, name: plainName }, ["name", "instructions"]),
  answers: { 201: { about: "The agent.", schema: agentSchema } },
  async handle({ body: { name, ...definition }, identity: { tenant, keyId: actor } }, { records }) {
    const agent = await addVersion(records, tenant, name, definition, true);
    if (agent === undefined) {
      return refuse(
        409,
        "agent_exists",
        `An agent called \`${name}\` exists already.`,
        `\`POST /v1/agents/${name}/versions\` adds a version to it.`,
      );
    }
    await records.audit({
      tenant,
      actor,
      action: "agent.created",
      subject: name,
      detail: { version: agent.version },
    });
    return answerWith(showAgent(agent), 201);
  },
});

const listAllAgents = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/agents",
  scope: "read",
  group: GROUP,
  summary: "List agents, each in its newest version.",
  query: tableShape<PageQuery>({ after: boundedText(64), limit: pageLimit }),
  answers: {
    200: { about: "A page of agents; pass `next` as `after` for more.", schema: listOf(agentSchema) },
  },
  async handle({ query: { after, limit = DEFAULT_PAGE }, identity: { tenant } }, { records }) {
    const agents = await listAgents(records, tenant, after, limit);
    const next = agents.length === limit ? agents.at(-1)?.name : undefined;
    return answerWith({ data: agents.map(showAgent), ...(next !== undefined && { next }) });
  },
});

const readAgent = defineRoute({
  method: "GET",
  path: "/v1/agents/{name}",
  scope: "read",
  group: GROUP,
  summary: "Read an agent: its newest version, or `name@2` for its second.",
  answers: { 200: { about: "The agent.", schema: agentSchema } },
  async handle({ identity: { tenant }, param }, { records }) {
    const agent = await findAgent(records, tenant, param("name"));
    return agent === undefined
      ? refuseUnknown("agent", param("name"), "/v1/agents")
      : answerWith(showAgent(agent));
  },
});

const listAgentVersions = defineRoute({
  method: "GET",
  path: "/v1/agents/{name}/versions",
  scope: "read",
  group: GROUP,
  summary: "List the versions of an agent, oldest first.",
  answers: { 200: { about: "All versions.", schema: listOf(agentSchema) } },
  async handle({ identity: { tenant }, param }, { records }) {
    const versions = await listVersions(records, tenant, param("name"));
    if (versions.length === 0) return refuseUnknown("agent", param("name"), "/v1/agents");
    return answerWith({ data: versions.map(showAgent) });
  },
});

const addAgentVersion = defineRoute<Record<never, never>, AgentDefinition>({
  method: "POST",
  path: "/v1/agents/{name}/versions",
  scope: "write",
  group: GROUP,
  summary: "Add a version to an agent. Runs under way keep the version they started with.",
  body: tableShape<AgentDefinition>(agentFields, ["instructions"]),
  answers: { 201: { about: "The new version.", schema: agentSchema } },
  async handle({ body, identity: { tenant, keyId: actor }, param }, { records }) {
    const name = param("name");
    if ((await findAgent(records, tenant, name)) === undefined)
      return refuseUnknown("agent", name, "/v1/agents");
    const agent = await addVersion(records, tenant, name, body, false);
    if (agent === undefined) {
      return refuse(
        409,
        "agent_changed",
        `Somebody else has changed \`${name}\` at the same time.`,
        "Read it again, then repeat your change.",
      );
    }
    await records.audit({
      tenant,
      actor,
      action: "agent.changed",
      subject: name,
      detail: { version: agent.version },
    });
    return answerWith(showAgent(agent), 201);
  },
});

const deleteAgent = defineRoute({
  method: "DELETE",
  path: "/v1/agents/{name}",
  scope: "write",
  group: GROUP,
  summary: "Remove an agent for new runs. Runs under way keep it.",
  answers: { 200: { about: "What was removed.", schema: fieldsOf({ name: TEXT }) } },
  async handle({ identity: { tenant, keyId: actor }, param }, { records }) {
    const name = param("name");
    if (!(await removeAgent(records, tenant, name))) return refuseUnknown("agent", name, "/v1/agents");
    await records.audit({ tenant, actor, action: "agent.removed", subject: name });
    return answerWith({ name });
  },
});

export const AGENT_ROUTES: readonly ServiceRoute[] = [
  createAgent,
  listAllAgents,
  readAgent,
  listAgentVersions,
  addAgentVersion,
  deleteAgent,
];
