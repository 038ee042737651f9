/**
 * The route table as a Hono application. The order for every request: who asks, may they, what did they send; only then
 * the handler, which the store answers for the tenant of who asks and for no other. Whatever it throws is the service's own
 * fault, logged, and answered without a word about it.
 */
import type { IncomingMessage } from "node:http";
import { isLoopbackAddress, isLoopbackHost } from "@metier/base/net";
import { done, type Result } from "@metier/base/result";
import { forAllTenants, forTenant, isStoreAway } from "@metier/durable";
import type { Context, Hono } from "hono";
import { DEFAULT_TENANT, type Identity, NOBODY } from "../keys/identity.ts";
import { holdsScope } from "../keys/scopes.ts";
import type { ServiceContext } from "../service-context.ts";
import { describeClient, hostName, type RequestClient } from "./browser-guard.ts";
import type { PageRoute } from "./page-routes.ts";
import { readBytes, readJsonBody, readPathParts, readQuery } from "./read-request.ts";
import { errorBody, type HttpRefusal, refuse } from "./refusal.ts";
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

export async function buildApp(
  routes: readonly ServiceRoute[],
  pages: readonly PageRoute[],
  context: ServiceContext,
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
  for (const route of routes) {
    app.on(route.method, honoPath(route.path), async (http) => {
      const from = performance.now();
      const response = await answerSafely(`${route.method} ${route.path}`, context, () =>
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
      const response = await answerSafely(path, context, () =>
        answer({ url: new URL(url), headers, client: clientOf(http, context) }),
      );
      return observe(http, path, from, response);
    });
  }
  app.notFound((http) => {
    const from = performance.now();
    return observe(http, "unknown", from, toResponse(refuseAddress(routes, http)));
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

const STORE_AWAY = {
  code: "store_unavailable",
  message: "The store of the service does not answer.",
  hint: "Try again in a few seconds.",
};
const STORE_AWAY_INIT = { status: 503, headers: { "Retry-After": "5" } };

/** Whatever is thrown is the service's own fault. */
async function answerSafely(
  where: string,
  { metrics, log }: ServiceContext,
  answer: () => Promise<Result<RouteAnswer, HttpRefusal>>,
): Promise<Response> {
  try {
    return toResponse(await answer());
  } catch (fault) {
    metrics.count("metier_faults_total");
    log.fault(where, fault);
    if (isStoreAway(fault)) return Response.json(errorBody(STORE_AWAY), STORE_AWAY_INIT);
    const body = errorBody({
      code: "internal",
      message: "The service could not do this. The fault is in its log.",
      hint: "Try again; if it stays, tell whoever runs the service.",
    });
    return Response.json(body, { status: 500 });
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
  // What is told of the whole service is told to its own admins.
  if (needed !== scope && identity.value.tenant !== DEFAULT_TENANT) return refuseTenant();
  if (holdsScope(identity.value.scopes, needed)) return identity;
  return refuse(
    403,
    "scope_missing",
    `This key may not do that: it lacks the scope \`${needed}\`.`,
    `Use a key with the scope \`${needed}\`; an admin makes one with \`POST /v1/keys\`.`,
  );
}

function refuseTenant(): Result<never, HttpRefusal> {
  const message = "This key may not do that: it is for admins of the whole service.";
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

/** For whom the store is asked. Of routes for anybody it shows nothing at all. */
function inScope<Value>({ scope }: ServiceRoute, { tenant }: Identity, work: () => Value): Value {
  if (scope === "operator") return forAllTenants(work);
  return scope === "none" ? work() : forTenant(tenant, work);
}

async function readBody(
  { takes, body: shape }: ServiceRoute,
  request: Request,
  { limits }: ServiceContext,
): Promise<Result<unknown, HttpRefusal>> {
  if (takes === "archive") return readBytes(request, limits.uploadBytes);
  return shape === undefined ? done(undefined) : readJsonBody(shape, request, limits.bodyBytes);
}

function toResponse(outcome: Result<RouteAnswer, HttpRefusal>): Response {
  if (!outcome.ok) {
    const { status, headers } = outcome.refusal;
    return Response.json(errorBody(outcome.refusal), { status, ...(headers && { headers }) });
  }
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
    return refuse(
      404,
      "not_found",
      "Nothing is at this address.",
      "`GET /v1/openapi.json` lists all addresses.",
    );
  }
  const methods = [...new Set(allowed)].join(", ");
  const message = "This address does not take that method.";
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

/** Not what a proxy on this machine passes on, nor a page that a browser was led to under another name. */
function isOnThisMachine(http: HttpContext, { address }: RequestClient): boolean {
  const { headers } = http.req.raw;
  const isPassedOn = ["forwarded", "x-forwarded-for", "x-real-ip", "via"].some((name) => headers.has(name));
  return isLoopbackAddress(address) && !isPassedOn && isLoopbackHost(hostName(headers));
}
