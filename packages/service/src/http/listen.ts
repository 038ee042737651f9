/** The server behind the application: where it listens, how long it waits for a slow client, and how it stops. */
import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { UsageError } from "@metier/base/errors";
import type { Hono } from "hono";

const TIMES = {
  /** For the headers of a request. */
  headersTimeout: 10_000,
  /** For a whole request, including an upload. A response may take as long as it needs. */
  requestTimeout: 120_000,
  keepAliveTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
} as const;

export interface Listener {
  readonly url: string;
  /** Takes no more requests, waits for those in progress, and closes the rest after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** Throws `UsageError` if it can't listen. */
export async function listen<Bindings extends object>(
  app: Hono<Bindings>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Listener> {
  const { createAdaptorServer } = await import("@hono/node-server");
  const fetch = app.fetch as (request: Request, env: unknown) => Response | Promise<Response>;
  const server = createAdaptorServer({
    fetch: (request, env) => fetch(request, env),
    serverOptions: TIMES,
    overrideGlobalObjects: false,
  }) as Server;
  try {
    await once(server.listen({ host, port }), "listening");
  } catch (cause) {
    throw new UsageError(`Cannot listen on \`${host}\`, port ${port}: ${(cause as Error).message}`, {
      hint: "Choose another `--port` (0 picks a free one) and use an address of this machine for `--host`.",
      cause,
    });
  }
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${bound}`,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const idle = setInterval(() => server.closeIdleConnections(), 50);
      const force = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(force);
    },
  };
}
