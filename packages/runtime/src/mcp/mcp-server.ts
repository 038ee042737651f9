/** A `Metier`'s skills as an MCP server for any number of connections. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Diagnostic } from "@metier/base/diagnostic";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { Caller, RunRequest } from "@metier/run";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Metier } from "../runtime/create-metier.ts";
import { openLines } from "./answer-lines.ts";
import type { McpHost } from "./connection.ts";
import { type Connections, createConnections } from "./connections.ts";
import { createFetchHandler, createHttpHandler, listenHttp, type McpFetchHandler } from "./http.ts";

/** An MCP server that offers a `Metier`'s skills over any number of connections. */
export interface SkillServer {
  /** Serves the client at the other end of two streams until it disconnects. */
  serveStreams(input: Readable, output: Writable): Promise<void>;
  /** For a server the program already has: `node:http`, or a framework on top of it. */
  httpHandler(options?: McpHttpOptions): McpHttpHandler;
  /** Serves streamable HTTP at `/mcp`. Throws `UsageError` for an address off loopback without a token. */
  listen(options?: McpListenOptions): Promise<McpListener>;
  /** Ends all connections and the runs in them. The `Metier` stays open. */
  close(): Promise<void>;
}

/**
 * Makes an MCP server of a `Metier`. It serves nobody before `listen`, `httpHandler` or `serveStreams` is called.
 * Throws `UsageError` for options that are not known.
 *
 * @example
 * ```ts
 * import { createMetier } from "metier";
 * import { createMcpServer } from "metier/mcp";
 * const server = createMcpServer(await createMetier(), { caller: { userId: "ada" } });
 * const { url } = await server.listen({ port: 8080 });
 * await server.close();
 * ```
 */
export function createMcpServer(metier: Metier, options: McpServerOptions = {}): SkillServer {
  checkKeys("createMcpServer", options, SERVER);
  checkKeys("createMcpServer({ run })", options.run, RUN);
  const connections = createConnections(metier, options);
  const ended = new AbortController();
  const open = new Set<{ close(): Promise<void> }>();
  const keep = <Closable extends { close(): Promise<void> }>(closable: Closable): Closable => {
    open.add(closable);
    return closable;
  };
  return {
    serveStreams: (input, output) => serveStreams(connections, input, output, ended.signal),
    httpHandler(http = {}) {
      checkKeys("httpHandler", http, HTTP);
      return keep(createHttpHandler(connections, http));
    },
    async listen(where = {}) {
      checkKeys("listen", where, LISTEN);
      return keep(await listenHttp(connections, where));
    },
    async close() {
      ended.abort();
      connections.close();
      await Promise.all([...open].map((closable) => closable.close()));
    },
  };
}

/** The skills for the clients of a service, which knows who asks and adds tools of its own. */
export function createMcpFetch(
  metier: Metier,
  options: Pick<McpServerOptions, "caller" | "onDiagnostic">,
  host: McpHost,
  limits: Pick<McpHttpOptions, "maxBodyBytes" | "maxSessions">,
): McpFetchHandler {
  const connections = createConnections(metier, options, host);
  const handler = createFetchHandler(connections, limits);
  return {
    fetch: handler.fetch,
    async close() {
      connections.close();
      await handler.close();
    },
  };
}

const SERVER: OptionKeys<McpServerOptions> = { caller: true, run: true, watch: true, onDiagnostic: true };
const RUN: OptionKeys<McpRunOptions> = {
  model: true,
  limits: true,
  write: true,
  approve: true,
  confirm: true,
  tools: true,
  onEvent: true,
};
const HTTP: OptionKeys<McpHttpOptions> = { hosts: true, token: true, maxBodyBytes: true, maxSessions: true };
const LISTEN: OptionKeys<McpListenOptions> = { ...HTTP, host: true, port: true };

/** One message per line, until the client or the signal ends it. */
async function serveStreams(
  connections: Connections,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const transport = openLines(input, output, connections.keepAnswers());
  const handle = serveStdio(() => connections.open(), { transport, onerror: connections.onError });
  // A broken stream has ended, too.
  await finished(input, { writable: false, cleanup: true, signal }).catch(() => undefined);
  await handle.close();
}

/** How skills that need an isolated run are run. Nobody can be asked, so calls that need approval are denied. */
export type McpRunOptions = Pick<
  RunRequest,
  "model" | "limits" | "write" | "approve" | "confirm" | "tools" | "onEvent"
>;

/** Options of `createMcpServer`, for all its connections. */
export interface McpServerOptions {
  /** Who asks. Default: nobody, so sensitive skills and skills limited to some chats aren't served. */
  readonly caller?: Caller;
  /** Makes `use_skill` run skills that need a run. Default: they are refused (`needs-run`). */
  readonly run?: McpRunOptions;
  /** Whether to watch the skills' folders and notify clients of changes. Default: yes. */
  readonly watch?: boolean;
  /** Receives, once each, skills left out of `skills/list` with the reason, and connection errors. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => unknown;
}

/** Options of `httpHandler`: whom it answers, and its limits. */
export interface McpHttpOptions {
  /**
   * The server's host names without port, checked against `Host` and, from a browser, `Origin`. Default: loopback
   * names.
   */
  readonly hosts?: readonly string[];
  /** What clients must send as `Authorization: Bearer …`: visible ASCII, not empty. Default: no token needed. */
  readonly token?: string;
  /** The largest request body, in bytes. Default: 4 MiB. */
  readonly maxBodyBytes?: number;
  /** The most sessions, and clients listening for changes, at a time. Default: 256. */
  readonly maxSessions?: number;
}

/** Options of `listen`: the address, and those of `httpHandler`. `hosts` are names in addition to the address. */
export interface McpListenOptions extends McpHttpOptions {
  /** An address or a name of this machine. Default: `127.0.0.1`. */
  readonly host?: string;
  /** The TCP port. Default: a free one. */
  readonly port?: number;
}

/** Returned by `httpHandler`: a function for a `node:http` server, and `close`. */
export interface McpHttpHandler {
  /** Answers one request; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends all connections and the runs in them. */
  close(): Promise<void>;
}

/** Returned by `listen`: a running HTTP server. */
export interface McpListener {
  /** Where clients find it, such as `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /** Ends all connections and the runs in them. */
  close(): Promise<void>;
}
