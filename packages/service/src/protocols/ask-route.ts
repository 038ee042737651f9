/**
 * A route of the API, asked from inside by a protocol: for the same identity, with the same scope, shapes and handler as over
 * HTTP. So a protocol can do what its caller may do with the API, and nothing more.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { readPathParts, readQuery, readValue } from "../http/read-request.ts";
import { type HttpRefusal, refuseScope } from "../http/refusal.ts";
import type { RouteRequest, ServiceRoute } from "../http/route.ts";
import { holdsScope, isKeyScope } from "../keys/scopes.ts";
import { API_ROUTES } from "../routes/all-routes.ts";
import type { ServiceContext } from "../service-context.ts";

/** Who asks, and until when they listen: what a handler of a protocol was given. */
export type InnerRequest = Pick<RouteRequest<unknown, unknown>, "headers" | "identity" | "client" | "signal">;

interface Asked {
  /** By the names between braces. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** JSON; for a route that takes an archive: its bytes. */
  readonly body?: unknown;
}

const BY_NAME: ReadonlyMap<string, ServiceRoute> = new Map(
  API_ROUTES.map((route) => [`${route.method} ${route.path}`, route]),
);

/** `name`: `POST /v1/sessions/{id}/messages`. Gives the answer's JSON. */
export async function askRoute(
  name: string,
  asking: InnerRequest,
  context: ServiceContext,
  { params = {}, query = {}, body }: Asked = {},
): Promise<Result<JsonObject, HttpRefusal>> {
  const route = BY_NAME.get(name);
  if (route === undefined) throw new Error(`The API has no route \`${name}\`.`);
  const { scope } = route;
  // Routes for anybody, for operators and for the platform have other checks, which only a request over HTTP passes.
  if (!isKeyScope(scope)) throw new Error(`A protocol cannot ask \`${name}\`: its scope is \`${scope}\`.`);
  if (!holdsScope(asking.identity.scopes, scope)) return refuseScope(scope);
  const parts = readPathParts(route, params);
  if (!parts.ok) return parts;
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value !== undefined) search.set(key, String(value));
  const found = readQuery(route.query, search);
  if (!found.ok) return found;
  const sent = route.body === undefined ? done(body) : readValue(route.body, body ?? {}, "body");
  if (!sent.ok) return sent;
  const { headers, identity, client, signal } = asking;
  const param = (part: string): string => parts.value.get(part) ?? "";
  const answer = await route.handle(
    { query: found.value, body: sent.value, headers, identity, client, signal, param },
    context,
  );
  if (!answer.ok) return answer;
  return done(answer.value instanceof Response ? {} : objectOf(answer.value.body));
}

function objectOf(body: Json): JsonObject {
  return isJsonObject(body) ? body : {};
}
