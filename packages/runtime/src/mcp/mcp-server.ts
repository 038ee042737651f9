/** The skills of a `Metier` as an MCP server: one thing that any number of connections are made from. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Writable } from "node:stream";
import { finished } from "node:stream/promises";
import type { Diagnostic } from "@metier/base/diagnostic";
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { Caller, RunRequest } from "@metier/run";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Metier } from "../runtime/create-metier.ts";
import { openLines } from "./answer-lines.ts";
import { type Connections, createConnections } from "./connections.ts";
import { createHttpHandler, listenHttp } from "./http.ts";

/** An MCP server that offers the skills of a `Metier`, over any number of connections. */
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

/** One message a line, until the client ends its side, or the signal does. */
async function serveStreams(
  connections: Connections,
  input: Readable,
  output: Writable,
  signal: AbortSignal,
): Promise<void> {
  const transport = openLines(input, output, connections.keepAnswers());
  const handle = serveStdio(() => connections.open(), { transport, onerror: connections.onError });
  // A stream that broke has ended, too.
  await finished(input, { writable: false, cleanup: true, signal }).catch(() => undefined);
  await handle.close();
}

/** How skills are run that need a run of their own. Nobody can be asked, so what the tool policy would ask about is denied. */
export type McpRunOptions = Pick<
  RunRequest,
  "model" | "limits" | "write" | "approve" | "confirm" | "tools" | "onEvent"
>;

/** Options of `createMcpServer`; they count for all its connections. */
export interface McpServerOptions {
  /** Who asks. Default: nobody, so that sensitive skills and those that are kept to some chats are not served. */
  readonly caller?: Caller;
  /** Makes `use_skill` run skills that need a run. Default: they are refused (`needs-run`). */
  readonly run?: McpRunOptions;
  /** Whether the skills' folders are watched, and clients told of changes. Default: yes. */
  readonly watch?: boolean;
  /** Hears, once each, which skills are left out of `skills/list` and why, and of faults of connections. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => unknown;
}

/** Options of `httpHandler`: whom it answers, and its limits. */
export interface McpHttpOptions {
  /** Names by which clients call the server, without port; in `Host` and, from a browser, `Origin`. Default: loopback's. */
  readonly hosts?: readonly string[];
  /** What clients must send as `Authorization: Bearer …`: visible ASCII, never empty. Default: nothing is needed. */
  readonly token?: string;
  /** The largest request body, in bytes. Default: 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Sessions, and clients that listen for changes, at a time. Default: 256. */
  readonly maxSessions?: number;
}

/** Options of `listen`: the address, and those of `httpHandler`. `hosts` are names beside the address. */
export interface McpListenOptions extends McpHttpOptions {
  /** An address or a name of this machine. Default: `127.0.0.1`. */
  readonly host?: string;
  /** The TCP port. Default: a free one. */
  readonly port?: number;
}

/** What `httpHandler` makes: a function for a server of `node:http`, and its end. */
export interface McpHttpHandler {
  /** Answers one request; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends all connections, with the runs in them. */
  close(): Promise<void>;
}

/** What `listen` makes: a running HTTP server. */
export interface McpListener {
  /** Where clients find it, such as `http://127.0.0.1:8080/mcp`. */
  readonly url: string;
  /** Ends all connections, with the runs in them. */
  close(): Promise<void>;
}
