/**
 * The route table as a Hono application. For every request, in this order: who asks, may they, what did they send; then
 * the handler, for which the store only answers for the caller's tenant. Anything a handler throws is a service error:
 * it is logged, and the response says nothing about it.
 */
import type { IncomingMessage } from "node:http";
import { isLoopbackAddress, isLoopbackHost } from "@metier/base/net";
import { done, type Result } from "@metier/base/result";
import { forAllTenants, forTenant, isStoreAway } from "@metier/durable";
import type { Context, Hono } from "hono";
import { DEFAULT_TENANT, type Identity, NOBODY } from "../keys/identity.ts";
import { holdsScope } from "../keys/scopes.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { ServiceContext } from "../service-context.ts";
import { describeClient, hostName, type RequestClient } from "./browser-guard.ts";
import type { PageRoute } from "./page-routes.ts";
import { readBytes, readForm, readJsonBody, readPathParts, readQuery } from "./read-request.ts";
import { errorBody, type HttpRefusal, refuse, refuseScope, type ToldRefusal } from "./refusal.ts";
import type { RouteAnswer, RouteRequest, ServiceRoute } from "./route.ts";

interface Bindings {
  readonly Bindings: { readonly incoming: IncomingMessage };
}

type HttpContext = Context<Bindings>;

const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
} as const;

/** The service's own refusals, for everything outside of a protocol's prefix. */
const OWN: Pick<Protocol, "prefix" | "tell"> = {
  prefix: "",
  tell: (told) => ({ status: told.status, body: errorBody(told), headers: told.headers }),
};

export async function buildApp(
  own: readonly ServiceRoute[],
  pages: readonly PageRoute[],
  context: ServiceContext,
  protocols: readonly Protocol[] = [],
): Promise<Hono<Bindings>> {
  const { Hono } = await import("hono");
  const app = new Hono<Bindings>();
  const observe = (http: HttpContext, pattern: string, from: number, response: Response): Response => {
    const { method } = http.req;
    const ms = Math.round((performance.now() - from) * 10) / 10;
    context.metrics.countRequest(
      KNOWN_METHODS.has(method) ? method : "other",
      pattern,
      response.status,
      ms / 1000,
    );
    const level = response.status >= 500 ? "error" : "info";
    context.log.write(level, "request", { method, route: pattern, status: response.status, ms });
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  };
  const routes = [...own, ...protocols.flatMap((protocol) => protocol.routes)];
  const toldBy = (path: string): Tell =>
    (protocols.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`)) ?? OWN).tell;
  for (const route of routes) {
    const tell = toldBy(route.path);
    app.on(route.method, honoPath(route.path), async (http) => {
      const from = performance.now();
      const response = await answerSafely(`${route.method} ${route.path}`, context, tell, () =>
        serveRoute(route, http, context),
      );
      // Nobody reads the body of such an answer: its stream or file would stay open.
      if (http.req.method === "HEAD") await response.body?.cancel();
      return observe(http, route.path, from, response);
    });
  }
  for (const { path, answer } of pages) {
    app.get(path, async (http) => {
      const from = performance.now();
      const { headers, url } = http.req.raw;
      const response = await answerSafely(path, context, OWN.tell, () =>
        answer({ url: new URL(url), headers, client: clientOf(http, context) }),
      );
      return observe(http, path, from, response);
    });
  }
  app.notFound((http) => {
    const from = performance.now();
    return observe(http, "unknown", from, toResponse(refuseAddress(routes, http), toldBy(http.req.path)));
  });
  return app;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

const STORE_AWAY: ToldRefusal = {
  status: 503,
  code: "store_unavailable",
  message: "The service cannot reach its store.",
  hint: "Try again in a few seconds.",
  headers: { "Retry-After": "5" },
};
const FAULT: ToldRefusal = {
  status: 500,
  code: "internal",
  message: "The service failed on this request. The error is in its log.",
  hint: "Try again. If it keeps failing, tell whoever runs the service.",
};

type Tell = Protocol["tell"];

/** Anything that is thrown is a service error. */
async function answerSafely(
  where: string,
  { metrics, log }: ServiceContext,
  tell: Tell,
  answer: () => Promise<Result<RouteAnswer, HttpRefusal>>,
): Promise<Response> {
  try {
    return toResponse(await answer(), tell);
  } catch (fault) {
    metrics.count("metier_faults_total");
    log.fault(where, fault);
    return sayNo(isStoreAway(fault) ? STORE_AWAY : FAULT, tell);
  }
}

async function serveRoute(
  route: ServiceRoute,
  http: HttpContext,
  context: ServiceContext,
): Promise<Result<RouteAnswer, HttpRefusal>> {
  const client = clientOf(http, context);
  const identity = await identify(route, http, client, context);
  return identity.ok ? handle(route, http, { identity: identity.value, client }, context) : identity;
}

async function identify(
  { scope }: ServiceRoute,
  http: HttpContext,
  client: RequestClient,
  { authenticate }: ServiceContext,
): Promise<Result<Identity, HttpRefusal>> {
  if (scope === "none" || (scope === "operator" && isOnThisMachine(http, client))) return done(NOBODY);
  const identity = await authenticate.identify(http.req.raw, client);
  if (!identity.ok || scope === "any") return identity;
  const needed = scope === "operator" || scope === "platform" ? "admin" : scope;
  // Only the service's own admins learn about the whole service.
  if (needed !== scope && identity.value.tenant !== DEFAULT_TENANT) return refuseTenant();
  if (holdsScope(identity.value.scopes, needed)) return identity;
  return refuseScope(needed);
}

function refuseTenant(): Result<never, HttpRefusal> {
  const message = "Only an admin of the whole service may do this.";
  return refuse(403, "platform_only", message, `Use an admin key of the tenant \`${DEFAULT_TENANT}\`.`);
}

async function handle(
  route: ServiceRoute,
  http: HttpContext,
  who: Pick<RouteRequest<unknown, unknown>, "identity" | "client">,
  context: ServiceContext,
): Promise<Result<RouteAnswer, HttpRefusal>> {
  const request = http.req.raw;
  const params = readPathParts(route, http.req.param() as Record<string, string>);
  if (!params.ok) return params;
  const query = readQuery(route.query, new URL(request.url).searchParams);
  if (!query.ok) return query;
  const body = await readBody(route, request, context);
  if (!body.ok) return body;
  const asked = {
    query: query.value,
    body: body.value,
    headers: request.headers,
    ...who,
    signal: request.signal,
    param: (name: string) => params.value.get(name) ?? "",
  };
  return inScope(route, who.identity, () => route.handle(asked, context));
}

/** The tenant the store is queried for. On public routes it shows nothing at all. */
function inScope<Value>({ scope }: ServiceRoute, { tenant }: Identity, work: () => Value): Value {
  if (scope === "operator") return forAllTenants(work);
  return scope === "none" ? work() : forTenant(tenant, work);
}

async function readBody(
  { takes, body: shape }: ServiceRoute,
  request: Request,
  { limits }: ServiceContext,
): Promise<Result<unknown, HttpRefusal>> {
  if (takes === "raw") return readBytes(request, limits.bodyBytes);
  if (takes === "archive") return readBytes(request, limits.uploadBytes);
  if (takes === "form") return readForm(request, limits.uploadBytes);
  return shape === undefined ? done(undefined) : readJsonBody(shape, request, limits.bodyBytes);
}

function sayNo(told: ToldRefusal, tell: Tell): Response {
  const { status, body, headers } = tell(told);
  return Response.json(body, { status, ...(headers && { headers }) });
}

function toResponse(outcome: Result<RouteAnswer, HttpRefusal>, tell: Tell): Response {
  if (!outcome.ok) return sayNo(outcome.refusal, tell);
  const answer = outcome.value;
  if (answer instanceof Response) return answer;
  return Response.json(answer.body, {
    status: answer.status,
    ...(answer.headers && { headers: answer.headers }),
  });
}

function refuseAddress(routes: readonly ServiceRoute[], http: HttpContext): Result<never, HttpRefusal> {
  const allowed = routes
    .filter(({ path }) => pathPattern(path).test(http.req.path))
    .map(({ method }) => method);
  if (allowed.length === 0) {
    return refuse(404, "not_found", "No such endpoint.", "`GET /v1/openapi.json` lists every endpoint.");
  }
  const methods = [...new Set(allowed)].join(", ");
  const message = "This endpoint does not support that method.";
  return refuse(405, "method_not_allowed", message, `Use ${methods}.`, { Allow: methods });
}

/** Hono's own spelling. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+)\*\}/g, ":$1{.+}").replace(/\{(\w+)\}/g, ":$1");
}

function pathPattern(path: string): RegExp {
  const plain = path
    .replace(/\./g, "\\.")
    .replace(/\{\w+\*\}/g, ".+")
    .replace(/\{\w+\}/g, "[^/]+");
  return new RegExp(`^${plain}$`);
}

function clientOf(http: HttpContext, { isOnLoopback }: ServiceContext): RequestClient {
  return describeClient(http.env.incoming, http.req.raw.headers, isOnLoopback);
}

/** Not requests from a proxy on this machine, or from a page that a browser reached under another name. */
function isOnThisMachine(http: HttpContext, { address }: RequestClient): boolean {
  const { headers } = http.req.raw;
  const isPassedOn = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => headers.has(name));
  return isLoopbackAddress(address) && !isPassedOn && isLoopbackHost(hostName(headers));
}
