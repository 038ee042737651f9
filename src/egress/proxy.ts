/**
 * The allow-list proxy: how processes in a sandbox reach granted domains and nothing else, by the gate that `web_fetch`
 * has. It listens on a Unix socket that a sandbox binds. Each request is checked for itself, a refusal is an answer that
 * says what is not granted, and no fault of one connection is more than the end of it.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { portOf } from "./dial-pinned.ts";
import { refuseEgress } from "./egress-fault.ts";
import { forwardRequest, whyNotForwarded } from "./forward-request.ts";
import { makePrivateSocket } from "./private-socket.ts";
import { answerRequest, refuseTunnel, statusOf } from "./proxy-answers.ts";
import { createReach, type Reach, type ReachOptions } from "./reach.ts";
import { type AddressBook, SYSTEM_ADDRESSES } from "./resolve-public.ts";
import { isMeantFor, readBeginning, refuseName, splice } from "./tunnel.ts";

export interface EgressProxyOptions extends ReachOptions {
  readonly limits?: Partial<ProxyLimits>;
  /** Where its socket stands: a folder that no run sees. Default: the one for temporary files. */
  readonly home?: string;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook;
}

export interface ProxyLimits {
  /** At a time, each for one request or one tunnel; further ones are closed at once. */
  readonly connections: number;
  /** After so much silence a connection is closed. */
  readonly idleMs: number;
  readonly dialMs: number;
}

export interface EgressProxy {
  readonly socketPath: string;
  /** Ends every connection and removes the socket. */
  close(): Promise<void>;
}

const LIMITS: ProxyLimits = { connections: 128, idleMs: 120_000, dialMs: 20_000 };
const MAX_HEADER_BYTES = 16_384;
const OTHER_HOST = refuseEgress("not-granted", "It was asked for in a tunnel to another host.");

export async function openEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const { addresses = SYSTEM_ADDRESSES } = options;
  const limits = { ...LIMITS, ...options.limits };
  const socket = makePrivateSocket("egress.sock", options.home);
  const closing = new AbortController();
  const open = new Set<Socket>();
  const track = (connection: Socket): Socket => {
    if (open.has(connection)) return connection; // Plain HTTP in a tunnel comes by a second time.
    open.add(connection);
    connection.on("error", () => undefined); // It is closed, and the other side of it with it.
    connection.once("close", () => open.delete(connection));
    return connection.setTimeout(limits.idleMs, () => connection.destroy());
  };
  const reach = createReach({ ...options, ...limits, addresses, signal: closing.signal, track });
  const server = createProxyServer(limits, track, {
    reach,
    refuse: (host) => options.onRefuse?.(host, OTHER_HOST),
  });
  await listen(server, socket.path).catch((fault: unknown) => {
    socket.remove();
    throw fault;
  });
  return {
    socketPath: socket.path,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        closing.abort();
        for (const connection of open) connection.destroy();
        socket.remove();
      }),
  };
}

interface WayOut {
  readonly reach: Reach;
  /** This host was asked for in a tunnel to another. */
  refuse(host: string): void;
}

function createProxyServer(limits: ProxyLimits, track: (client: Socket) => void, way: WayOut): Server {
  /** Plain HTTP in a tunnel: where it leads. */
  const tunnels = new WeakMap<Socket, URL>();
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    requestTimeout: 0, // A long upload is no fault; silence is.
    headersTimeout: limits.idleMs,
  });
  server.maxConnections = limits.connections;
  server.maxRequestsPerSocket = 1; // Nothing of one can be taken for a part of another.
  server.maxHeadersCount = 0; // Their size bounds them. One that is left out might be the one that frames the body.
  server.timeout = limits.idleMs; // It sets the time anew for each request, also after `track` did.
  server.on("connection", track);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const target = targetOf(request, tunnels.get(request.socket));
    passRequest(request, response, target, way).catch(() => response.destroy());
  });
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    const readPlain = (url: URL): void => {
      tunnels.set(client, url);
      server.emit("connection", client);
      client.resume();
    };
    client.unshift(head); // Before anything is waited for, or an end that follows it would be noticed first.
    openTunnel(request.url ?? "", client, way, readPlain).catch(() => client.destroy());
  });
  return server;
}

/** An absolute URL, or in a tunnel the path of one. */
function targetOf({ url = "" }: IncomingMessage, tunnel: URL | undefined): string | undefined {
  if (tunnel && url.startsWith("/")) return `http://${tunnel.hostname}:${portOf(tunnel)}${url}`;
  return !tunnel && /^http:\/\//i.test(url) ? url : undefined;
}

const NOT_FOR_A_PROXY =
  "This is a proxy: ask for `http://…` by its whole URL, and for `https://…` by `CONNECT`.";

async function passRequest(
  request: IncomingMessage,
  response: ServerResponse,
  target: string | undefined,
  { reach }: WayOut,
): Promise<void> {
  if (target === undefined) return answerRequest(response, 400, NOT_FOR_A_PROXY);
  const wrong = whyNotForwarded(request);
  if (wrong !== undefined) return answerRequest(response, 400, wrong);
  const reached = await reach(target);
  if (!reached.ok) return answerRequest(response, statusOf(reached), reached.message);
  const { url, upstream } = reached;
  if (response.destroyed) return void upstream.destroy(); // Whoever asked has gone meanwhile.
  try {
    await forwardRequest(request, response, url, upstream);
  } catch (fault) {
    upstream.destroy();
    if (response.headersSent) return void response.destroy();
    answerRequest(response, 502, `\`${url.host}\` gave no answer: ${(fault as Error).message}.`);
  }
}

async function openTunnel(
  authority: string,
  client: Socket,
  { reach, refuse }: WayOut,
  readPlain: (url: URL) => void,
): Promise<void> {
  // The port alone tells which scheme is meant; for any other than these two it makes no difference.
  const scheme = authority.endsWith(":80") ? "http" : "https";
  const reached = /^[^/?#@\\\s]+:\d{1,5}$/.test(authority)
    ? await reach(`${scheme}://${authority}/`)
    : refuseEgress("invalid", "`CONNECT` is given a host and a port, as `example.com:443`.");
  if (!reached.ok) return refuseTunnel(client, reached);
  const { url, upstream } = reached;
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  const beginning = await readBeginning(client);
  if (beginning.kind === "tls" && url.protocol === "https:" && isMeantFor(url, beginning.serverName)) {
    return splice(client, upstream);
  }
  upstream.destroy();
  if (beginning.kind === "plain") return readPlain(url);
  if (beginning.kind === "closed") return void client.destroy();
  refuse(beginning.serverName ?? url.hostname);
  refuseName(client);
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.on("error", reject); // One that comes later, as when there are no more descriptors, ends one connection.
    server.listen(path, resolve);
  });
}
