/** The card of the service for one tenant: its skills and its agents, each by the name that a message gives. */
import { createHash } from "node:crypto";
import type { JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { HttpRefusal } from "../../http/refusal.ts";
import type { RouteOutcome, RouteRequest } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute } from "../ask-route.ts";
import { checkTarget, type ThreadTarget } from "../threads.ts";

const WHOLE = "Runs skills. Name one in the metadata of a message: `skill` or `agent`.";
const MODES = ["text/plain"];
/** Skills change seldom, and only for one tenant: no shared cache may keep its card. */
const CACHE = { "Cache-Control": "private, max-age=60", Vary: "Authorization" };

/** `place`: the card of this skill or agent alone; without one, of all. */
export async function makeCard(
  request: RouteRequest<unknown, unknown>,
  context: ServiceContext,
  prefix: string,
  place: ThreadTarget,
): Promise<Result<JsonObject, HttpRefusal>> {
  const { headers, client } = request;
  const name = place.skill ?? place.agent;
  const known = name === undefined ? done(undefined) : await checkTarget(request, context, place);
  if (!known.ok) return known;
  const all = await listSkills(request, context);
  const only = place.skill ?? (name !== undefined && `agent:${name.replace(/@.*/, "")}`);
  const skills = only ? all.filter(({ id }) => id === only) : all;
  const kind = place.skill === undefined ? "agents" : "skills";
  const path = name === undefined ? prefix : `${prefix}/${kind}/${encodeURIComponent(name)}`;
  const url = `${client.isSecure ? "https" : "http"}://${headers.get("host") ?? "localhost"}${path}`;
  return done({
    name: name ?? "Metier",
    description: String((name !== undefined && skills[0]?.description) || WHOLE),
    version: context.version,
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    securitySchemes: { key: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
    securityRequirements: [{ schemes: { key: { list: [] } } }],
    defaultInputModes: MODES,
    defaultOutputModes: [...MODES, "application/json"],
    skills,
  });
}

async function listSkills(
  asking: RouteRequest<unknown, unknown>,
  context: ServiceContext,
): Promise<JsonObject[]> {
  const skills = await context.shelf.list(asking.identity.tenant);
  const agents = await askRoute("GET /v1/agents", asking, context);
  const listed = agents.ok ? (agents.value.data as readonly JsonObject[]) : [];
  return [
    ...skills.map(({ name, description }) => ({ id: name, name, description, tags: ["skill"] })),
    ...listed.map(({ name = "", definition }) => ({
      id: `agent:${name}`,
      name,
      description: describe(definition as JsonObject | undefined),
      tags: ["agent"],
    })),
  ];
}

function describe(definition: JsonObject | undefined): string {
  const { description } = definition ?? {};
  return typeof description === "string" ? description : "An agent.";
}

/** With what clients need to keep the card for a while, and to ask whether it is still the same. */
export function answerCard(asked: Headers, card: JsonObject): RouteOutcome {
  const digest = createHash("sha256").update(JSON.stringify(card)).digest("base64url");
  const headers = { ...CACHE, ETag: `"${digest}"` };
  if (asked.get("if-none-match") === headers.ETag) return done(new Response(null, { status: 304, headers }));
  return done({ status: 200, body: card, headers });
}
