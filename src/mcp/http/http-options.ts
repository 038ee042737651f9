/** What programs say about MCP over HTTP, and what they get. Nothing here names a package, which users do not have. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface McpHttpOptions {
  /** Names by which clients call the server, without port; in `Host` and, from a browser, `Origin`. Default: loopback's. */
  readonly hosts?: readonly string[];
  /** What clients must send as `Authorization: Bearer …`: visible ASCII, never empty. Default: nothing is needed. */
  readonly token?: string;
  /** Default: 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Sessions, and clients that listen for changes, at a time. Default: 256. */
  readonly maxSessions?: number;
}

export interface McpListenOptions extends McpHttpOptions {
  /** An address or a name of this machine. Default: `127.0.0.1`. */
  readonly host?: string;
  /** Default: a free one. */
  readonly port?: number;
}

export interface McpHttpHandler {
  /** Answers one request; never throws. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** Ends all connections, with the runs in them. */
  close(): Promise<void>;
}

export interface McpListener {
  /** Where clients find it. */
  readonly url: string;
  /** Ends all connections, with the runs in them. */
  close(): Promise<void>;
}
