/** MCP over HTTP for a server of `node:http`: guarded, bounded, and in every version of the protocol that the SDK speaks. */
import type { ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, isLegacyRequest } from "@modelcontextprotocol/server";
import type { Serving } from "../serving.ts";
import { checkToken, guardRequest } from "./guard-request.ts";
import { LOOPBACK_NAMES } from "./host-names.ts";
import type { McpHttpHandler, McpHttpOptions } from "./http-options.ts";
import { createSessions } from "./sessions.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_SESSIONS = 256;

/** Throws `UsageError` for a token that cannot be one. */
export function createHttpHandler(
  serving: Serving,
  {
    hosts = LOOPBACK_NAMES,
    token,
    maxBodyBytes: maxRequestBodySize = MAX_BODY_BYTES,
    maxSessions = MAX_SESSIONS,
  }: McpHttpOptions,
): McpHttpHandler {
  if (token !== undefined) checkToken(token);
  const guard = { hosts, ...(token !== undefined && { token }) };
  // Requests without a session have no connection, so they share one: what was given to one counts for all.
  const shared = serving.connect();
  const modern = createMcpHandler(() => serving.build(shared), {
    legacy: "reject",
    maxRequestBodySize,
    maxSubscriptions: maxSessions,
  });
  const unfollow = serving.follow(modern.notify);
  const sessions = createSessions(serving.open, { most: maxSessions, maxRequestBodySize });
  const answer = toNodeHandler(
    {
      fetch: async (request, options) =>
        (await isLegacyRequest(request, undefined, { maxRequestBodySize }))
          ? sessions.handle(request)
          : modern.fetch(request, options),
    },
    { maxRequestBodySize, onerror: serving.onError },
  );
  return {
    async handle(request, response) {
      const refused = guardRequest(request.headers, guard);
      if (refused) refuse(response, refused.status, refused.message);
      else await answer(request as NodeIncomingMessageLike, response);
    },
    async close() {
      unfollow();
      await Promise.all([modern.close(), sessions.close()]);
    },
  };
}

/** The body stays unread, so the connection ends with the answer. */
export function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, {
    "Content-Type": "application/json",
    Connection: "close",
    ...(status === 401 && { "WWW-Authenticate": "Bearer" }),
  });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_000, message } }));
}
