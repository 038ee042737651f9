/**
 * Sessions of the protocol's versions that have them. There are only so many: the one that was used longest ago makes
 * room for a new one, and its client, told that it is unknown, begins another.
 */
import { randomUUID } from "node:crypto";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

export interface Sessions {
  handle(request: Request): Promise<Response>;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly most: number;
  readonly maxRequestBodySize: number;
}

interface Session {
  readonly mcp: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
}

export function createSessions(
  open: () => McpServer,
  { most, maxRequestBodySize }: SessionOptions,
): Sessions {
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
