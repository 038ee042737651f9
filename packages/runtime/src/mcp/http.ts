/**
 * MCP over HTTP: a handler that is guarded (before a byte of the body is read) and bounded, the sessions of the protocol's
 * versions that have them, and a server of `node:http` at `/mcp`, which off loopback listens only with a token.
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

/** `hosts` are names beside those of the address. Throws `UsageError` where it must not, or cannot, listen. */
export async function listenHttp(
  connections: Connections,
  { host = "127.0.0.1", port = 0, hosts = [], ...options }: McpListenOptions,
): Promise<McpListener> {
  if (!isLoopbackHost(urlHost(host)) && options.token === undefined) {
    throw new UsageError(`\`${host}\` can be reached from other machines, and no token is set.`, {
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
      hint: "Choose another port, or none for a free one, and an address of this machine.",
      cause,
    });
  }
}

/** No new connections; those there are end with what they were doing. */
async function close(server: Server, endHandler: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await endHandler();
  server.closeAllConnections();
  await closed;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_SESSIONS = 256;

/** Throws `UsageError` for a token that cannot be one. */
export function createHttpHandler(
  connections: Connections,
  {
    hosts = LOOPBACK_NAMES,
    token,
    maxBodyBytes: maxRequestBodySize = MAX_BODY_BYTES,
    maxSessions = MAX_SESSIONS,
  }: McpHttpOptions,
): McpHttpHandler {
  if (token !== undefined) checkToken(token);
  // Requests without a session have no connection, so they share one: what was given to one counts for all.
  const shared = connections.connect();
  const modern = createMcpHandler(() => connections.build(shared), {
    legacy: "reject",
    maxRequestBodySize,
    maxSubscriptions: maxSessions,
  });
  const unfollow = connections.follow(modern.notify);
  const sessions = createSessions(connections.open, maxSessions, maxRequestBodySize);
  const answers = connections.keepAnswers();
  let isClosed = false;
  const answer = (request: NodeIncomingMessageLike, response: ServerResponse, note?: NoteAnswer) => {
    const fetch: typeof modern.fetch = async (web, options) => {
      if (await isLegacyRequest(web, undefined, { maxRequestBodySize })) return sessions.handle(web);
      const given = await modern.fetch(web, options);
      return note ? note(given) : given;
    };
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
      unfollow();
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/** The body stays unread, so the connection ends with the answer. */
function refuseHttp(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "Content-Type": "application/json",
    Connection: "close",
    ...(status === 401 && { "WWW-Authenticate": "Bearer" }),
  });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}

/**
 * There are only so many: the one that was used longest ago makes room for a new one, and its client, told that it is
 * unknown, begins another.
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
  /** The one used last is last. */
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
    if (transport.sessionId === undefined) await mcp.close(); // It did not ask for a session.
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
  const error = { code: -32_001, message: "Session not found; begin a new one with `initialize`." };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}

/**
 * Who may speak with the server at all: a name by which it is known (a page that a browser was led to under another name
 * is refused), no foreign origin, and the token where there is one. `hosts` are without a port, IPv6 addresses in brackets.
 */
function guardRequest(
  headers: IncomingHttpHeaders,
  hosts: readonly string[],
  token: string | undefined,
): { readonly status: 401 | 403; readonly message: string } | undefined {
  const names = [...hosts];
  const host = validateHostHeader(headers.host, names);
  const unknown = "That is no name of this server; `--allow-host` adds one.";
  if (!host.ok) return { status: 403, message: `${host.message}. ${unknown}` };
  const origin = validateOriginHeader(headers.origin, names);
  if (!origin.ok) return { status: 403, message: `${origin.message}. Pages of other sites are not served.` };
  if (token === undefined || isToken(headers.authorization, token)) return undefined;
  return { status: 401, message: "A bearer token is needed: `Authorization: Bearer …`." };
}

/** Throws `UsageError` for a token that nobody could send, or that everybody would. */
function checkToken(token: string): void {
  if (/^[!-~]+$/.test(token)) return;
  throw new UsageError("The token is empty, or has a character that no header can carry.", {
    hint: "Give a long random value of visible ASCII characters without spaces.",
  });
}

/** Takes as long for a wrong token as for the right one. */
function isToken(authorization: string | undefined, token: string): boolean {
  const [, given = ""] = /^Bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
  return isSameSecret(given, token);
}

const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** As `Host` spells them. */
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
