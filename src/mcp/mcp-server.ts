/** The skills of a `Metier` as an MCP server: one thing that any number of connections are made from. */
import type { Readable, Writable } from "node:stream";
import type { Metier } from "../runtime/create-metier.ts";
import { createHttpHandler } from "./http/http-handler.ts";
import type { McpHttpHandler, McpHttpOptions, McpListener, McpListenOptions } from "./http/http-options.ts";
import { listenHttp } from "./http/listen.ts";
import type { McpServerOptions } from "./mcp-options.ts";
import { serveStreams } from "./serve-streams.ts";
import { createServing } from "./serving.ts";

export interface SkillServer {
  /** Speaks with the client at the other end of two streams, until it ends. */
  serveStreams(input: Readable, output: Writable): Promise<void>;
  /** For a server that the program has already: `node:http`, or a framework on top of it. */
  httpHandler(options?: McpHttpOptions): McpHttpHandler;
  /** Serves streamable HTTP at `/mcp`. Throws `UsageError` for an address off loopback without a token. */
  listen(options?: McpListenOptions): Promise<McpListener>;
  /** Ends all connections, with the runs in them. The `Metier` stays open. */
  close(): Promise<void>;
}

export function createMcpServer(metier: Metier, options: McpServerOptions = {}): SkillServer {
  const serving = createServing(metier, options);
  const ended = new AbortController();
  const open = new Set<{ close(): Promise<void> }>();
  const keep = <Closable extends { close(): Promise<void> }>(closable: Closable): Closable => {
    open.add(closable);
    return closable;
  };
  return {
    serveStreams: (input, output) => serveStreams({ serving, input, output, signal: ended.signal }),
    httpHandler: (http = {}) => keep(createHttpHandler(serving, http)),
    listen: async (where = {}) => keep(await listenHttp(serving, where)),
    async close() {
      ended.abort();
      serving.close();
      await Promise.all([...open].map((closable) => closable.close()));
    },
  };
}
