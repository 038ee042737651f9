/**
 * MCP over HTTP at `/mcp`: the tenant's skills as `metier mcp` serves them, and runs as tools. Each key has its own
 * connections, so one key's session is unknown to every other.
 */
import { AsyncResource } from "node:async_hooks";
import { done } from "@metier/base/result";
import type { McpFetchHandler } from "@metier/runtime/mcp";
import { takeStream } from "../../http/answer-stream.ts";
import { checkHost, checkOriginIfSaid } from "../../http/browser-guard.ts";
import { defineRoute, type RouteOutcome, type RouteRequest, type ServiceRoute } from "../../http/route.ts";
import type { ServedSkills } from "../../insight/insight.ts";
import { DEFAULT_TENANT } from "../../keys/identity.ts";
import type { ServiceContext } from "../../service-context.ts";
import type { Protocol } from "../protocol.ts";
import { runTools } from "./run-tools.ts";

const PREFIX = "/mcp";
/** For the most recently used keys. */
const MOST_HANDLERS = 500;
const SESSIONS_PER_KEY = 64;

interface Opened {
  readonly served: ServedSkills;
  readonly handler: McpFetchHandler;
}

/** By key, for each running service. */
const OPENED = new WeakMap<ServiceContext, Map<string, Opened>>();

function openedIn(context: ServiceContext): Map<string, Opened> {
  const known = OPENED.get(context);
  if (known) return known;
  const opened = new Map<string, Opened>();
  OPENED.set(context, opened);
  const closeAll = (): void => {
    for (const { handler } of opened.values()) closeQuietly(handler, context);
  };
  context.stopping.addEventListener("abort", closeAll, { once: true });
  return opened;
}

function closeQuietly(handler: McpFetchHandler, { log }: ServiceContext): void {
  handler.close().catch((fault) => log.fault("mcp", fault));
}

async function openFor(
  { identity, client }: RouteRequest<unknown, unknown>,
  context: ServiceContext,
): Promise<McpFetchHandler> {
  const { tenant, keyId, userId, scopes } = identity;
  const [served, { createMcpFetch }] = await Promise.all([
    context.insight.served(tenant),
    import("@metier/runtime/mcp"),
  ]);
  const opened = openedIn(context);
  const key = JSON.stringify([tenant, keyId, userId, [...scopes].toSorted()]);
  const known = opened.get(key);
  opened.delete(key);
  if (known?.served === served) {
    opened.set(key, known);
    return known.handler;
  }
  if (known) closeQuietly(known.handler, context);
  // The headers of one request don't apply to the calls of another.
  const tools = runTools({ identity, client, headers: new Headers() }, context);
  const caller = { userId: userId ?? "nobody", ...(tenant !== DEFAULT_TENANT && { tenantId: tenant }) };
  const limits = { maxBodyBytes: context.limits.bodyBytes, maxSessions: SESSIONS_PER_KEY };
  const handler = createMcpFetch(served.metier, { caller }, { tools, hide: served.hide }, limits);
  opened.set(key, { served, handler });
  for (const [oldest, { handler: idle }] of [...opened].slice(0, Math.max(0, opened.size - MOST_HANDLERS))) {
    opened.delete(oldest);
    closeQuietly(idle, context);
  }
  return handler;
}

async function answer(
  method: "GET" | "POST" | "DELETE",
  request: RouteRequest<unknown, Buffer | undefined>,
  context: ServiceContext,
): Promise<RouteOutcome> {
  const { headers, body, signal, identity } = request;
  const host = checkHost(headers, context.isOnLoopback);
  if (!host.ok) return host;
  const origin = checkOriginIfSaid(headers);
  if (!origin.ok) return origin;
  const handler = await openFor(request, context);
  const asked = new Request(`http://${headers.get("host") ?? "localhost"}${PREFIX}`, {
    method,
    headers,
    signal,
    ...(body && { body: new Uint8Array(body) }),
  });
  // Taken first: a call that is refused later would already have started its run.
  const taken = takeStream(context, identity);
  if (!taken.ok) return taken;
  const close = taken.value;
  try {
    const response = await handler.fetch(asked);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    if (isStream && response.body !== null)
      return done(countStream(response, response.body, { close, signal, identity }, context));
    close();
    return done(response);
  } catch (fault) {
    close();
    throw fault;
  }
}

interface OpenStream extends Pick<RouteRequest<unknown, unknown>, "identity" | "signal"> {
  close(): void;
}

/**
 * A streamed answer counts as one of its key's streams until it ends in any way, and ends with the key even if it is
 * silent.
 */
function countStream(
  { status, headers }: Response,
  body: ReadableStream<Uint8Array>,
  { close, signal, identity }: OpenStream,
  context: ServiceContext,
): Response {
  const reader = body.getReader();
  const logged = (work: Promise<unknown>): void =>
    void work.catch((fault) => context.log.fault("mcp", fault));
  // Reading the stream belongs to no request, so the key is looked up for the tenant that opened it.
  const mayGoOn = AsyncResource.bind(() => context.keys.stillActs(identity, context.now()));
  const endWithKey = async (): Promise<void> => {
    if (!(await mayGoOn())) await reader.cancel();
  };
  const watch = setInterval(() => logged(endWithKey()), context.times.heartbeatMs);
  const end = (): void => {
    clearInterval(watch);
    close();
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const counted = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done: isOver, value } = await reader.read();
          if (!isOver && (await mayGoOn())) return controller.enqueue(value);
          end();
          controller.close();
          await reader.cancel();
        } catch (fault) {
          end();
          throw fault;
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(counted, { status, headers });
}

const ANSWERS = { 200: { about: "Messages of MCP.", type: "text/event-stream" } };
const SHARED = { path: PREFIX, scope: "read", group: "mcp", answers: ANSWERS } as const;

const ROUTES: readonly ServiceRoute[] = [
  defineRoute<Record<never, never>, Buffer>({
    ...SHARED,
    method: "POST",
    summary: "Send a message of MCP.",
    takes: "raw",
    handle: (request, context) => answer("POST", request, context),
  }),
  defineRoute({
    ...SHARED,
    method: "GET",
    summary: "Listen for messages of a session.",
    handle: (request, context) => answer("GET", request, context),
  }),
  defineRoute({
    ...SHARED,
    method: "DELETE",
    summary: "End a session.",
    handle: (request, context) => answer("DELETE", request, context),
  }),
];

export const MCP: Protocol = {
  name: "MCP",
  prefix: PREFIX,
  routes: ROUTES,
  tell({ status, code, message, hint, headers }) {
    const error = { code: -32_000, message: `${message} ${hint}`, data: { code } };
    return { status, headers, body: { jsonrpc: "2.0", id: null, error } };
  },
};
