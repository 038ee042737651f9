/** A server of `node:http` for MCP at `/mcp`. Off loopback it listens only with a token. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { UsageError } from "../../foundation/errors.ts";
import type { Serving } from "../serving.ts";
import { isLoopback, namesOf, urlHost } from "./host-names.ts";
import { createHttpHandler, refuse } from "./http-handler.ts";
import type { McpListener, McpListenOptions } from "./http-options.ts";

const PATH = "/mcp";
const MAX_CONNECTIONS = 1024;

/** `hosts` are names beside those of the address. Throws `UsageError` where it must not, or cannot, listen. */
export async function listenHttp(
  serving: Serving,
  { host = "127.0.0.1", port = 0, hosts = [], ...options }: McpListenOptions,
): Promise<McpListener> {
  if (!isLoopback(host) && options.token === undefined) {
    throw new UsageError(`\`${host}\` can be reached from other machines, and no token is set.`, {
      hint: "Set `METIER_MCP_TOKEN` to a long random value that clients send as a bearer token, or listen on 127.0.0.1.",
    });
  }
  const handler = createHttpHandler(serving, { ...options, hosts: [...namesOf(host), ...hosts] });
  const server = createServer((request, response) => {
    const [path] = (request.url ?? "").split("?", 1);
    if (path === PATH) void handler.handle(request, response);
    else refuse(response, 404, `There is nothing here; MCP is at ${PATH}.`);
  });
  server.maxConnections = MAX_CONNECTIONS;
  try {
    const { port: bound } = await bind(server, host, port);
    return { url: `http://${urlHost(host)}:${bound}${PATH}`, close: () => close(server, handler.close) };
  } catch (cause) {
    await handler.close();
    throw new UsageError(`Cannot listen on \`${host}\`, port ${port}: ${(cause as Error).message}`, {
      hint: "Choose another port, or none for a free one, and an address of this machine.",
      cause,
    });
  }
}

function bind(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/** No new connections; those there are end with what they were doing. */
async function close(server: Server, endHandler: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await endHandler();
  server.closeAllConnections();
  await closed;
}
