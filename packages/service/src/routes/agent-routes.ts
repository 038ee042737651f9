/** Agents: a named set of instructions, model, skills, tools and limits. Each change is a new version; runs keep theirs. */
import { type JsonObject, presentFields } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { NUMBER_FIELD, objectOf, plainName, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { refuse, refuseMissing } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import {
  type AgentDefinition,
  type AgentVersion,
  addVersion,
  agentFields,
  findAgentVersion,
  listAgents,
  listVersions,
  removeAgent,
} from "../runs/agent-versions.ts";

const GROUP = "agents";
const agentSchema = objectOf({
  name: TEXT_FIELD,
  version: NUMBER_FIELD,
  definition: { type: "object" },
  createdAt: TIME_FIELD,
});

interface NewAgentBody extends AgentDefinition {
  readonly name: string;
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
  summary: "Create an agent, at version 1.",
  body: tableShape<NewAgentBody>({ ...agentFields, name: plainName }, ["name", "instructions"]),
  answers: { 201: { about: "The agent.", schema: agentSchema } },
  async handle({ body: { name, ...definition }, identity }, { records }) {
    const agent = await addVersion(records, identity, name, definition, true);
    if (agent === undefined) {
      return refuse(
        409,
        "agent_exists",
        `An agent called \`${name}\` already exists.`,
        `Add a version to it with \`POST /v1/agents/${name}/versions\`.`,
      );
    }
    return replyWith(showAgent(agent), 201);
  },
});

const listAllAgents = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/agents",
  scope: "read",
  group: GROUP,
  summary: "List agents, each at its newest version.",
  query: pageShape,
  answers: pageAnswer("agents", agentSchema),
  handle: ({ query, identity: { tenant } }, { records }) =>
    replyPage(query, {
      read: (page) => listAgents(records, tenant, page),
      cursor: (name) => name,
      async show(name) {
        const agent = await findAgentVersion(records, tenant, name);
        return agent && showAgent(agent);
      },
    }),
});

const readAgent = defineRoute({
  method: "GET",
  path: "/v1/agents/{name}",
  scope: "read",
  group: GROUP,
  summary: "Get an agent: its newest version, or `name@2` for version 2.",
  answers: { 200: { about: "The agent.", schema: agentSchema } },
  async handle({ identity: { tenant }, param }, { records }) {
    const agent = await findAgentVersion(records, tenant, param("name"));
    return agent === undefined
      ? refuseMissing("agent", param("name"), "/v1/agents")
      : replyWith(showAgent(agent));
  },
});

const listAgentVersions = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/agents/{name}/versions",
  scope: "read",
  group: GROUP,
  summary: "List an agent's versions, oldest first.",
  query: pageShape,
  answers: pageAnswer("versions", agentSchema),
  async handle({ query, identity: { tenant }, param }, { records }) {
    const name = param("name");
    const first = await listVersions(records, tenant, name, { after: undefined, limit: 1 });
    if (first.length === 0) return refuseMissing("agent", name, "/v1/agents");
    return replyPage(query, {
      read: (page) => listVersions(records, tenant, name, page),
      cursor: ({ version }) => String(version),
      show: showAgent,
    });
  },
});

const addAgentVersion = defineRoute<Record<never, never>, AgentDefinition>({
  method: "POST",
  path: "/v1/agents/{name}/versions",
  scope: "write",
  group: GROUP,
  summary: "Add a version to an agent. Runs in progress keep theirs.",
  body: tableShape<AgentDefinition>(agentFields, ["instructions"]),
  answers: { 201: { about: "The new version.", schema: agentSchema } },
  async handle({ body, identity, param }, { records }) {
    const name = param("name");
    if ((await findAgentVersion(records, identity.tenant, name)) === undefined)
      return refuseMissing("agent", name, "/v1/agents");
    const agent = await addVersion(records, identity, name, body, false);
    if (agent === undefined) {
      return refuse(
        409,
        "agent_changed",
        `Someone else changed \`${name}\` at the same time.`,
        "Read it again, then repeat your change.",
      );
    }
    return replyWith(showAgent(agent), 201);
  },
});

const deleteAgent = defineRoute({
  method: "DELETE",
  path: "/v1/agents/{name}",
  scope: "write",
  group: GROUP,
  summary: "Remove an agent from new runs. Runs in progress keep it.",
  answers: { 200: { about: "The removed agent.", schema: objectOf({ name: TEXT_FIELD }) } },
  async handle({ identity, param }, { records }) {
    const name = param("name");
    const isGone = await removeAgent(records, identity, name);
    return isGone ? replyWith({ name }) : refuseMissing("agent", name, "/v1/agents");
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
