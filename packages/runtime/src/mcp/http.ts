/**
 * MCP over HTTP: a handler that is guarded (before the body is read) and bounded, sessions for protocol versions that
 * have them, and a `node:http` server at `/mcp`, which off loopback only listens with a token.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import { isSameSecret } from "@metier/base/digest";
import { UsageError } from "@metier/base/errors";
import { isLoopbackHost } from "@metier/base/net";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  validateHostHeader,
  validateOriginHeader,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { answerPost, type NoteAnswer } from "./answer-posts.ts";
import type { Connections } from "./connections.ts";
import type { McpHttpHandler, McpHttpOptions, McpListener, McpListenOptions } from "./mcp-server.ts";

const PATH = "/mcp";
const MAX_CONNECTIONS = 1024;

/** `hosts` are names in addition to the address. Throws `UsageError` if it must not or can't listen. */
export async function listenHttp(
  connections: Connections,
  { host = "127.0.0.1", port = 0, hosts = [], ...options }: McpListenOptions,
): Promise<McpListener> {
  if (!isLoopbackHost(urlHost(host)) && options.token === undefined) {
    throw new UsageError(`Other machines can reach \`${host}\`, but no token is set.`, {
      hint: "Set `METIER_MCP_TOKEN` to a long random value that clients send as a bearer token, or listen on 127.0.0.1.",
    });
  }
  const handler = createHttpHandler(connections, { ...options, hosts: [...hostNames(host), ...hosts] });
  const server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (path === PATH) void handler.handle(request, response);
    else refuseHttp(response, 404, `There is nothing here; MCP is at ${PATH}.`);
  });
  server.maxConnections = MAX_CONNECTIONS;
  try {
    await once(server.listen({ host, port }), "listening");
    const { port: bound } = server.address() as AddressInfo;
    return { url: `http://${urlHost(host)}:${bound}${PATH}`, close: () => close(server, handler.close) };
  } catch (cause) {
    await handler.close();
    throw new UsageError(`Cannot listen on \`${host}\`, port ${port}: ${(cause as Error).message}`, {
      hint: "Choose another port (none picks a free one) and an address of this machine.",
      cause,
    });
  }
}

/** Accepts no new connections; existing ones finish what they are doing. */
async function close(server: Server, endHandler: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await endHandler();
  server.closeAllConnections();
  await closed;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_SESSIONS = 256;

/** MCP for a server that knows already who asks. */
export interface McpFetchHandler {
  /** Answers one request. */
  fetch(request: Request, note?: NoteAnswer): Promise<Response>;
  /** Ends all connections. */
  close(): Promise<void>;
}

export function createFetchHandler(
  connections: Connections,
  {
    maxBodyBytes: maxRequestBodySize = MAX_BODY_BYTES,
    maxSessions = MAX_SESSIONS,
  }: Pick<McpHttpOptions, "maxBodyBytes" | "maxSessions">,
): McpFetchHandler {
  // Requests without a session have no connection, so they share one: what one received counts for all.
  const shared = connections.connect();
  const modern = createMcpHandler(() => connections.build(shared), {
    legacy: "reject",
    maxRequestBodySize,
    maxSubscriptions: maxSessions,
  });
  const unfollow = connections.follow(modern.notify);
  const sessions = createSessions(connections.open, maxSessions, maxRequestBodySize);
  return {
    async fetch(web, note) {
      if (await isLegacyRequest(web, undefined, { maxRequestBodySize })) return sessions.handle(web);
      const given = await modern.fetch(web);
      return note ? note(given) : given;
    },
    async close() {
      unfollow();
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/** Throws `UsageError` for a token that cannot be one. */
export function createHttpHandler(
  connections: Connections,
  { hosts = LOOPBACK_NAMES, token, ...limits }: McpHttpOptions,
): McpHttpHandler {
  if (token !== undefined) checkToken(token);
  const { maxBodyBytes: maxRequestBodySize = MAX_BODY_BYTES } = limits;
  const handler = createFetchHandler(connections, limits);
  const answers = connections.keepAnswers();
  let isClosed = false;
  const answer = (request: NodeIncomingMessageLike, response: ServerResponse, note?: NoteAnswer) => {
    const fetch = (web: Request): Promise<Response> => handler.fetch(web, note);
    return toNodeHandler({ fetch }, { maxRequestBodySize, onerror: connections.onError })(request, response);
  };
  return {
    async handle(request, response) {
      const refused = guardRequest(request.headers, hosts, token);
      if (refused) refuseHttp(response, refused.status, refused.message);
      else if (isClosed) await answer(request as NodeIncomingMessageLike, response);
      else await answerPost(request, response, answers, (again, note) => answer(again, response, note));
    },
    async close() {
      isClosed = true;
      await handler.close();
    },
  };
}

/** The body stays unread, so the connection closes with the answer. */
function refuseHttp(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "Content-Type": "application/json",
    Connection: "close",
    ...(status === 401 && { "WWW-Authenticate": "Bearer" }),
  });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}

/**
 * Their number is limited: the least recently used one makes room for a new one, and its client, told that it is
 * unknown, starts another.
 */
interface Sessions {
  handle(request: Request): Promise<Response>;
  close(): Promise<void>;
}

interface Session {
  readonly mcp: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

function createSessions(open: () => McpServer, most: number, maxRequestBodySize: number): Sessions {
  /** The most recently used one is last. */
  const sessions = new Map<string, Session>();
  const use = (id: string, session: Session): void => {
    sessions.delete(id);
    sessions.set(id, session);
  };
  const begin = async (request: Request): Promise<Response> => {
    const mcp = open();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => use(id, { mcp, transport }),
      maxRequestBodySize,
    });
    await mcp.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      sessions.delete(transport.sessionId ?? "");
      onclose?.();
    };
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await mcp.close(); // It didn't ask for a session.
    await makeRoom();
    return response;
  };
  const makeRoom = async (): Promise<void> => {
    for (const [, { mcp }] of [...sessions].slice(0, Math.max(0, sessions.size - most))) await mcp.close();
  };
  return {
    async handle(request) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return begin(request);
      const session = sessions.get(id);
      if (session === undefined) return unknownSession();
      use(id, session);
      return session.transport.handleRequest(request);
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ mcp }) => mcp.close()));
      sessions.clear();
    },
  };
}

function unknownSession(): Response {
  const error = { code: -32_001, message: "Session not found; start a new one with `initialize`." };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}

/**
 * Who may talk to the server: the request must use one of its names (a page that a browser reached under another name
 * is refused), have no foreign origin, and send the token if there is one. `hosts` have no port; IPv6 addresses are in
 * brackets.
 */
function guardRequest(
  headers: IncomingHttpHeaders,
  hosts: readonly string[],
  token: string | undefined,
): { readonly status: 401 | 403; readonly message: string } | undefined {
  const names = [...hosts];
  const host = validateHostHeader(headers.host, names);
  const unknown = "This server does not go by that host name; add it with `--allow-host`.";
  if (!host.ok) return { status: 403, message: `${host.message}. ${unknown}` };
  const origin = validateOriginHeader(headers.origin, names);
  if (!origin.ok)
    return { status: 403, message: `${origin.message}. Pages from other sites are not served.` };
  if (token === undefined || isToken(headers.authorization, token)) return undefined;
  return { status: 401, message: "Send a bearer token: `Authorization: Bearer …`." };
}

/** Throws `UsageError` for a token that nobody could send, or that everybody would. */
function checkToken(token: string): void {
  if (/^[!-~]+$/.test(token)) return;
  throw new UsageError("The token is empty, or has a character that HTTP headers do not allow.", {
    hint: "Use a long random value of visible ASCII characters without spaces.",
  });
}

/** Takes the same time for a wrong token as for the right one. */
function isToken(authorization: string | undefined, token: string): boolean {
  const [, given = ""] = /^Bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
  return isSameSecret(given, token);
}

const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** As spelled in `Host`. */
function hostNames(host: string): readonly string[] {
  const own = EVERYWHERE.has(host) ? machineNames() : [urlHost(host)];
  return [...new Set([...LOOPBACK_NAMES, ...own])];
}

const EVERYWHERE: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

function machineNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => urlHost(address))];
}

function urlHost(host: string): string {
  return isIP(host) === 6 ? `[${host.replace(/%.*$/, "")}]` : host.toLowerCase();
}
